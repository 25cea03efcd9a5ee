import type { AnyKind, JsonPatchOperation } from '@kubewright/api'
import type { Client } from '@kubewright/client'
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '@kubewright/k8s/admissionregistration/v1'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'
import { bundleContains } from './read-certificate.ts'

/**
 * The names of the objects whose CA bundle the API server uses to verify webhook servers. Missing objects are skipped.
 */
export interface TrustTargets {
  readonly mutating?: readonly string[] | undefined
  readonly validating?: readonly string[] | undefined
  /** CRDs whose conversion webhook is this server. */
  readonly crds?: readonly string[] | undefined
}

/** A target as it was read. */
export interface TrustTarget {
  readonly kind: AnyKind
  readonly name: string
  readonly resourceVersion: string
  /** The CA bundles in the object: JSON pointer and PEM. */
  readonly bundles: readonly { readonly path: string; readonly pem: string }[]
}

/** Reads the targets that exist. */
export async function readTargets(
  client: Pick<Client, 'find'>,
  { mutating = [], validating = [], crds = [] }: TrustTargets,
  signal?: AbortSignal,
): Promise<TrustTarget[]> {
  const found: TrustTarget[] = []
  const add = (
    kind: AnyKind,
    metadata: Identity,
    configs: readonly (readonly [string, Config | undefined])[],
  ): void => {
    const bundles = configs.flatMap(([path, config]) =>
      config === undefined
        ? []
        : { path: `${path}/caBundle`, pem: Buffer.from(config.caBundle ?? '', 'base64').toString() },
    )
    const { name, resourceVersion } = metadata
    if (bundles.length > 0) found.push({ kind, name, resourceVersion, bundles })
  }
  for (const [kind, names] of [
    [MutatingWebhookConfiguration, mutating],
    [ValidatingWebhookConfiguration, validating],
  ] as const) {
    for (const name of names) {
      const object = await client.find(kind, name, { signal })
      if (!object) continue
      const { webhooks = [] } = object
      add(
        kind,
        object.metadata,
        webhooks.map((one, i) => [`/webhooks/${i}/clientConfig`, one.clientConfig] as const),
      )
    }
  }
  for (const name of crds) {
    const object = await client.find(CustomResourceDefinition, name, { signal })
    const webhook = object?.spec.conversion?.strategy === 'Webhook' ? object.spec.conversion.webhook : undefined
    if (object && webhook?.clientConfig) {
      add(CustomResourceDefinition, object.metadata, [['/spec/conversion/webhook/clientConfig', webhook.clientConfig]])
    }
  }
  return found
}

type Identity = { readonly name: string; readonly resourceVersion: string }
type Config = { readonly caBundle?: string | undefined }

/** Whether all targets trust every authority of a bundle. */
export function trustsAll(targets: readonly TrustTarget[], bundle: string): boolean {
  return targets.every(({ bundles }) => bundles.every(({ pem }) => bundleContains(pem, bundle)))
}

/**
 * Writes a CA bundle into a target. The target must have been read before the bundle. Fails with Invalid or Conflict
 * when the target has changed since, because it may contain a newer bundle now.
 */
export async function injectBundle(
  client: Pick<Client, 'patch'>,
  target: TrustTarget,
  bundle: string,
  signal?: AbortSignal,
): Promise<void> {
  const value = Buffer.from(bundle).toString('base64')
  const operations: JsonPatchOperation[] = [
    { op: 'replace', path: '/metadata/resourceVersion', value: target.resourceVersion },
  ]
  for (const { path, pem } of target.bundles) if (pem !== bundle) operations.push({ op: 'add', path, value })
  if (operations.length > 1) await client.patch(target.kind, target.name, operations, { signal })
}
