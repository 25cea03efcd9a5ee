import type { AnyKind, CrdManifest } from '@kubewright/api'
import type { Operator, PolicyRule } from '@kubewright/runtime'
import * as ownRuntime from '@kubewright/runtime'

/** As much of a copy of the runtime as describing an operator takes. */
export type DescribingRuntime = Pick<
  typeof ownRuntime,
  | 'accessOf'
  | 'certificateRules'
  | 'certificatesOf'
  | 'definitionsOf'
  | 'isKeyController'
  | 'needsWebhooks'
  | 'webhookConfigurations'
>

/** A custom resource that an operator brings with it. */
export interface DescribedResource {
  readonly crd: CrdManifest
  /** Whether the operator's webhook server converts its versions. */
  readonly isConverted: boolean
  /** Whether a controller reconciles it. */
  readonly isReconciled: boolean
}

/** A webhook as it is registered, but for where its server is. */
export interface DescribedWebhook {
  readonly name: string
  readonly path: string
  readonly registration: Readonly<Record<string, unknown>>
}

/** Rules by the place where they are granted. */
export interface DescribedAccess {
  readonly cluster: readonly PolicyRule[]
  /** In each of the namespaces that are watched. */
  readonly watched: readonly PolicyRule[]
  /** In the namespace of the operator. */
  readonly own: readonly PolicyRule[]
  /** In namespaces that the operator names. */
  readonly elsewhere: Readonly<Record<string, readonly PolicyRule[]>>
  /** What looking after certificates takes: in the cluster, and in the namespace of the operator. */
  readonly certificates: { readonly cluster: readonly PolicyRule[]; readonly own: readonly PolicyRule[] }
}

/** What manifests are made of: an operator as plain data. */
export interface OperatorDescription {
  readonly name: string
  /** Empty for all; {@link ownNamespace} alone for the one that it runs in. */
  readonly namespaces: readonly string[]
  /** Whether only one replica works at a time. False where replicas share the work. */
  readonly leaderElection: boolean
  readonly resources: readonly DescribedResource[]
  readonly mutating: readonly DescribedWebhook[]
  readonly validating: readonly DescribedWebhook[]
  readonly access: DescribedAccess
}

/** Stands for the namespace that an operator runs in, among those that it watches. */
export const ownNamespace = ''

/** What {@link describeOperator} takes besides the operator. */
export interface DescribeOptions {
  /** Whether it shall only look at the namespace that it runs in. @default what the operator says */
  readonly namespaced?: boolean | undefined
  /** Groups whose definitions are somebody else's business. @default none */
  readonly externalGroups?: readonly string[] | undefined
  /** The copy that the operator was made with: only that one knows its kinds. @default the one of this command */
  readonly runtime?: DescribingRuntime | undefined
}

const here = 'here'

/**
 * Describes an operator as plain data. Of custom resources, those that it names as kinds, reconciles, converts or has webhooks for are its own, and
 * those of the same groups that it makes or watches; definitions of other groups are left to whoever they are from.
 */
export function describeOperator(operator: Operator, options: DescribeOptions = {}): OperatorDescription {
  const { runtime = ownRuntime, namespaced = false } = options
  const { accessOf, certificateRules, certificatesOf, needsWebhooks, webhookConfigurations } = runtime
  // Roll-outs have two replicas for a moment: unless they share the work, one of them has to wait.
  const leaderElection = operator.sharding === false && (operator.leaderElection || {})
  const namespaces = namespaced ? [here] : operator.namespaces
  const deployed: Operator = { ...operator, leaderElection, namespaces }
  const access = accessOf(deployed, { secureMetrics: false, managedCertificates: false })
  const certificates = needsWebhooks(operator)
    ? certificateRules(certificatesOf(operator, { namespace: '' }))
    : { cluster: [], namespaced: [] }
  const { mutating, validating } = webhookConfigurations(operator, { url: 'https://server', namePrefix: '' })
  return {
    name: operator.name,
    namespaces: namespaced ? [ownNamespace] : operator.namespaces,
    leaderElection: leaderElection !== false,
    resources: ownResources(operator, runtime, options.externalGroups ?? []),
    mutating: (mutating?.webhooks ?? []).map(describeWebhook),
    validating: (validating?.webhooks ?? []).map(describeWebhook),
    access: {
      cluster: access.cluster,
      watched: access.watched,
      own: access.own,
      elsewhere: Object.fromEntries(access.elsewhere),
      certificates: { cluster: certificates.cluster, own: certificates.namespaced },
    },
  }
}

/** Whether a webhook server belongs to the operator. */
export function hasWebhooks({ mutating, validating, resources }: OperatorDescription): boolean {
  return mutating.length > 0 || validating.length > 0 || resources.some(({ isConverted }) => isConverted)
}

function ownResources(
  operator: Operator,
  runtime: DescribingRuntime,
  external: readonly string[],
): DescribedResource[] {
  const own = [
    ...operator.kinds,
    ...operator.webhooks.map(({ kind }) => kind),
    ...operator.conversions.map(({ hub }) => hub),
  ]
  const related: AnyKind[] = []
  const reconciled = new Set<string>()
  for (const controller of operator.controllers) {
    if (controller.kind !== undefined) {
      own.push(controller.kind)
      reconciled.add(idOf(controller.kind))
    }
    if (runtime.isKeyController(controller)) continue
    related.push(...controller.owns.map(({ kind }) => kind), ...controller.watches.map(({ kind }) => kind))
  }
  const definitions = new Map(
    runtime.definitionsOf(operator, { external: false }).map((crd) => [crd.metadata.name, crd]),
  )
  const groups = new Set(own.filter((kind) => definitions.has(idOf(kind))).map(({ group }) => group))
  const converted = new Set(operator.conversions.map(({ hub }) => idOf(hub)))
  const ids = new Set([...own, ...related.filter(({ group }) => groups.has(group))].map(idOf))
  return [...ids].sort().flatMap((id) => {
    const crd = definitions.get(id)
    if (crd === undefined || external.includes(crd.spec.group)) return []
    return [{ crd, isConverted: converted.has(id), isReconciled: reconciled.has(id) }]
  })
}

const idOf = ({ group, plural }: AnyKind): string => `${plural}.${group}`

function describeWebhook(entry: object): DescribedWebhook {
  const { clientConfig, ...registration } = entry as { clientConfig: { url: string }; name: string }
  return { name: registration.name, path: new URL(clientConfig.url).pathname, registration }
}
