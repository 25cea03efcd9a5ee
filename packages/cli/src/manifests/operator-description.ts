import type { AnyKind, CrdManifest } from '@kubewright/api'
import type { Operator, PolicyRule } from '@kubewright/runtime'
import * as ownRuntime from '@kubewright/runtime'

/** The exports of the runtime that {@link describeOperator} needs. */
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

/** A custom resource that an operator defines. */
export interface DescribedResource {
  readonly crd: CrdManifest
  /** Whether the webhook server of the operator converts its versions. */
  readonly isConverted: boolean
  /** Whether a controller reconciles it. */
  readonly isReconciled: boolean
}

/** A webhook registration without the address of its server. */
export interface DescribedWebhook {
  readonly name: string
  readonly path: string
  readonly registration: Readonly<Record<string, unknown>>
}

/** RBAC rules by the scope in which they are granted. */
export interface DescribedAccess {
  readonly cluster: readonly PolicyRule[]
  /** In each watched namespace. */
  readonly watched: readonly PolicyRule[]
  /** In the namespace of the operator. */
  readonly own: readonly PolicyRule[]
  /** In other namespaces, by name. */
  readonly elsewhere: Readonly<Record<string, readonly PolicyRule[]>>
  /** For managing the certificate of the webhooks: in the cluster, and in the namespace of the operator. */
  readonly certificates: { readonly cluster: readonly PolicyRule[]; readonly own: readonly PolicyRule[] }
}

/** An operator as plain data, from which manifests are generated. */
export interface OperatorDescription {
  readonly name: string
  /** The watched namespaces. Empty for all; {@link ownNamespace} stands for the namespace of the operator. */
  readonly namespaces: readonly string[]
  /** Whether only one replica is active at a time. False if replicas share the work. */
  readonly leaderElection: boolean
  readonly resources: readonly DescribedResource[]
  readonly mutating: readonly DescribedWebhook[]
  readonly validating: readonly DescribedWebhook[]
  /** Whether the webhook server answers reviews of tokens or access, which no configuration registers. */
  readonly hasReviews?: boolean | undefined
  readonly access: DescribedAccess
}

/** Stands for the namespace of the operator among the watched namespaces. */
export const ownNamespace = ''

/** The options of {@link describeOperator}. */
export interface DescribeOptions {
  /** Restricts the operator to its own namespace. @default as the operator is defined */
  readonly namespaced?: boolean | undefined
  /** Groups whose CRDs other projects install. @default none */
  readonly externalGroups?: readonly string[] | undefined
  /** The copy of the runtime that defined the operator. @default that of this command */
  readonly runtime?: DescribingRuntime | undefined
}

const here = 'here'

/**
 * Describes an operator as plain data. It defines the custom resources that it lists as kinds, reconciles, converts or has webhooks for, and
 * those of the same groups that it owns or watches. CRDs of other groups belong to other projects.
 */
export function describeOperator(operator: Operator, options: DescribeOptions = {}): OperatorDescription {
  const { runtime = ownRuntime, namespaced = false } = options
  const { accessOf, certificateRules, certificatesOf, needsWebhooks, webhookConfigurations } = runtime
  // During a rollout there are two replicas for a moment: unless they share the work, only one may be active.
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
    ...(operator.webhooks.some(({ type }) => type === 'token' || type === 'access') ? { hasReviews: true } : {}),
    access: {
      cluster: access.cluster,
      watched: access.watched,
      own: access.own,
      elsewhere: Object.fromEntries(access.elsewhere),
      certificates: { cluster: certificates.cluster, own: certificates.namespaced },
    },
  }
}

/** Whether the operator has a webhook server. */
export function hasWebhooks({ mutating, validating, resources, hasReviews = false }: OperatorDescription): boolean {
  return mutating.length > 0 || validating.length > 0 || hasReviews || resources.some(({ isConverted }) => isConverted)
}

function ownResources(
  operator: Operator,
  runtime: DescribingRuntime,
  external: readonly string[],
): DescribedResource[] {
  const own = [
    ...operator.kinds,
    ...operator.webhooks.flatMap(({ kind }) => (kind ? [kind] : [])),
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
