import type { ApiClient } from '@kubewright/client'
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '@kubewright/k8s/admissionregistration/v1'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'
import type { Definition } from './dev-messages.ts'

/**
 * Removes webhooks and conversions that an operator process registered at its address on this machine and could not remove because it was
 * killed. Without a server at that address, the API server would reject all writes that they cover. Other operators on the same control
 * plane keep theirs if `of` names one operator.
 */
export async function removeLocalWebhooks(
  client: ApiClient,
  of?: { readonly operator: string; readonly definitions: readonly Definition[] },
): Promise<void> {
  const infix = '-local-'
  const isOwn = (name: string): boolean =>
    of === undefined ? name.includes(infix) : name.startsWith(`${of.operator}${infix}`)
  for (const kind of [MutatingWebhookConfiguration, ValidatingWebhookConfiguration]) {
    for (const { metadata, webhooks = [] } of await client.list(kind)) {
      const isLocalOnly = isOwn(metadata.name) && webhooks.every(({ clientConfig: { url } }) => isLocal(url))
      if (isLocalOnly) await client.delete(kind, metadata.name)
    }
  }
  for (const { metadata, spec } of await client.list(CustomResourceDefinition)) {
    if (of !== undefined && !of.definitions.some((definition) => definition.metadata.name === metadata.name)) continue
    if (!isLocal(spec.conversion?.webhook?.clientConfig?.url)) continue
    const patch = [{ op: 'replace' as const, path: '/spec/conversion', value: { strategy: 'None' } }]
    await client.patch(CustomResourceDefinition, metadata.name, patch)
  }
}

function isLocal(url: string | undefined): boolean {
  return url?.startsWith('https://127.0.0.1:') ?? false
}
