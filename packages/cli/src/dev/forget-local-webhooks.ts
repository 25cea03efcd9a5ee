import type { ApiClient } from '@kubewright/client'
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '@kubewright/k8s/admissionregistration/v1'

/** Unregisters the webhooks that a process of an operator had registered under its local address, and left behind. */
export async function forgetLocalWebhooks(client: ApiClient, operator: string): Promise<void> {
  for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration]) {
    for (const { metadata } of await client.list(kind)) {
      if (metadata.name.startsWith(`${operator}-local-`)) await client.delete(kind, metadata.name)
    }
  }
}
