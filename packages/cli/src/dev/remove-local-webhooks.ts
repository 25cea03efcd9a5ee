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
      else if (of !== undefined && metadata.name.startsWith(`${of.operator}-`)) {
        // A deployed configuration that the process had redirected: it names the Service of the operator again.
        const service = { namespace: `${of.operator}-system`, name: `${of.operator}-webhook-service` }
        const patch = webhooks.flatMap(({ clientConfig: { url } }, index) =>
          url !== undefined && isLocal(url)
            ? [{ op: 'replace' as const, path: `/webhooks/${index}/clientConfig`, value: configOf(service, url) }]
            : [],
        )
        if (patch.length > 0) await client.patch(kind, metadata.name, patch)
      }
    }
  }
  for (const { metadata, spec } of await client.list(CustomResourceDefinition)) {
    if (of !== undefined && !of.definitions.some((definition) => definition.metadata.name === metadata.name)) continue
    if (!isLocal(spec.conversion?.webhook?.clientConfig?.url)) continue
    const patch = [{ op: 'replace' as const, path: '/spec/conversion', value: { strategy: 'None' } }]
    await client.patch(CustomResourceDefinition, metadata.name, patch)
  }
}

const configOf = (service: object, url: string): object => ({ service: { ...service, path: new URL(url).pathname } })

function isLocal(url: string | undefined): boolean {
  return url?.startsWith('https://127.0.0.1:') ?? false
}
