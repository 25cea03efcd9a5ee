import type { AnyKind, JsonPatchOperation } from '@kubewright/api'
import type { Client } from '@kubewright/client'
import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from '@kubewright/k8s/admissionregistration/v1'
import { CustomResourceDefinition } from '@kubewright/k8s/apiextensions/v1'
import { bundleContains } from './read-certificate.ts'

/** The objects by which the API server knows whom to trust when it asks webhooks, by name. Those that do not exist are passed over. */
export interface TrustTargets {
  readonly mutating?: readonly string[]
  readonly validating?: readonly string[]
  /** Definitions whose conversion webhook is this server. */
  readonly crds?: readonly string[]
}

/** One object that holds bundles, as it was read. */
export interface TrustTarget {
  readonly kind: AnyKind
  readonly name: string
  readonly resourceVersion: string
  /** The bundles in it: where each is, and what it is, PEM. */
  readonly bundles: readonly { readonly path: string; readonly pem: string }[]
}

/** Reads the objects that hold bundles. */
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
type Config = { readonly caBundle?: string }

/** Whether everybody trusts all authorities of a bundle. */
export function trustsAll(targets: readonly TrustTarget[], bundle: string): boolean {
  return targets.every(({ bundles }) => bundles.every(({ pem }) => bundleContains(pem, bundle)))
}

/**
 * Writes a bundle into an object that was read before the bundle was. The write fails with an Invalid or a Conflict when the object
 * changed meanwhile: somebody else may have put a newer bundle there.
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
