import type { ApiClient } from '@kubewright/client'
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '@kubewright/k8s/admissionregistration/v1'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'

/**
 * Removes webhooks and conversions that an operator process registered at its address on this machine and could not remove because it was
 * killed. Without a server at that address, the API server would reject all writes that they cover.
 */
export async function removeLocalWebhooks(client: ApiClient): Promise<void> {
  for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration]) {
    for (const { metadata, webhooks = [] } of await client.list(kind)) {
      const isLocalOnly =
        metadata.name.includes('-local-') && webhooks.every(({ clientConfig: { url } }) => isLocal(url))
      if (isLocalOnly) await client.delete(kind, metadata.name)
    }
  }
  for (const { metadata, spec } of await client.list(CustomResourceDefinition)) {
    if (!isLocal(spec.conversion?.webhook?.clientConfig?.url)) continue
    const patch = [{ op: 'replace' as const, path: '/spec/conversion', value: { strategy: 'None' } }]
    await client.patch(CustomResourceDefinition, metadata.name, patch)
  }
}

function isLocal(url: string | undefined): boolean {
  return url?.startsWith('https://127.0.0.1:') ?? false
}
