import type { AnyKind } from '@kubewright/api'
import type { AccessRule } from '../controller/access-rule.ts'
import type { KeyController } from '../controller/key-controller.ts'
import type { Source } from '../controller/sources/source.ts'
import type { Controller } from '../define/define-controller.ts'
import { isKeyController, type Operator } from '../define/define-operator.ts'
import { certificateRules } from '../serving/certificates/certificate-rules.ts'
import { certificatesOf, needsWebhooks } from '../webhook/start-webhooks.ts'
import { mergeRules, type PolicyRule } from './policy-rule.ts'

/** Options of {@link accessOf}. */
export interface AccessOptions {
  /** Whether the metrics server authorizes its clients with the API server. @default true */
  readonly secureMetrics?: boolean | undefined
  /** Whether the operator manages its webhook certificates itself. @default when it has webhooks or conversions */
  readonly managedCertificates?: boolean | undefined
}

/** The permissions that an operator needs, by the scope in which they are granted. */
export interface OperatorAccess {
  /** Granted by a ClusterRole to the whole cluster. */
  readonly cluster: readonly PolicyRule[]
  /** Granted by a Role in each of the operator's `namespaces`; empty when it watches all. */
  readonly watched: readonly PolicyRule[]
  /** Granted by a Role in the namespace of the operator, which contains its Leases and Secrets. */
  readonly own: readonly PolicyRule[]
  /** Granted by Roles in other namespaces that the operator names, such as that of its Lease. */
  readonly elsewhere: ReadonlyMap<string, readonly PolicyRule[]>
}

const read = ['get', 'list', 'watch']

/**
 * The minimal permissions of an operator, derived from its definition: the kinds that its controllers watch, own and
 * write, the `rbac` of controllers and webhooks, Events, Leases and the needs of its servers. The `namespaces` of
 * single controllers do not restrict them.
 */
export function accessOf(operator: Operator, options: AccessOptions = {}): OperatorAccess {
  const { secureMetrics = true, managedCertificates = needsWebhooks(operator) } = options
  const rights = operator.controllers.flatMap((controller) =>
    isKeyController(controller) ? keyControllerRights(controller) : controllerRights(controller),
  )
  rights.push(...operator.webhooks.flatMap(({ rbac }) => rbac.map(ruleRight)))
  rights.push({ rule: eventRule, isCluster: false })
  const everywhere = operator.namespaces.length === 0
  const cluster = rights.filter(({ isCluster }) => everywhere || isCluster).map(({ rule }) => rule)
  const watched = rights.filter(({ isCluster }) => !everywhere && !isCluster).map(({ rule }) => rule)
  const own: PolicyRule[] = []
  if (secureMetrics) cluster.push(...reviewRules)
  if (managedCertificates) {
    const rules = certificateRules(certificatesOf(operator, { namespace: '' }))
    cluster.push(...rules.cluster)
    own.push(...rules.namespaced)
  }
  const elsewhere = new Map<string, readonly PolicyRule[]>()
  if (operator.clusters !== undefined) elsewhere.set(operator.clusters.namespace, operator.clusters.rbac)
  for (const [option, verbs] of [
    [
      operator.leaderElection,
      watchesLease(operator) ? ['create', 'get', 'update', 'watch'] : ['create', 'get', 'update'],
    ],
    [operator.sharding, ['create', 'delete', 'get', 'list', 'update']],
  ] as const) {
    if (option === false) continue
    const rule: PolicyRule = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs }
    const { namespace } = option
    // Leader election records Events beside the Lease, in a namespace that the operator may not watch. None of them
    // repeats.
    const rules =
      option === operator.leaderElection && !everywhere ? [rule, { ...eventRule, verbs: ['create'] }] : [rule]
    if (namespace === undefined) own.push(...rules)
    else elsewhere.set(namespace, mergeRules([...(elsewhere.get(namespace) ?? []), ...rules]))
  }
  return { cluster: mergeRules(cluster), watched: mergeRules(watched), own: mergeRules(own), elsewhere }
}

const watchesLease = ({ leaderElection }: Operator): boolean =>
  leaderElection !== false && leaderElection.watch === true

/** The rules of the operator's main role, without Leases and certificates; see {@link accessOf}. */
export function rulesOf(operator: Operator): PolicyRule[] {
  const { cluster, watched } = accessOf(operator, { secureMetrics: false, managedCertificates: false })
  return mergeRules([...cluster, ...watched])
}

interface Right {
  readonly rule: PolicyRule
  /** Whether it is for cluster-scoped objects. */
  readonly isCluster: boolean
}

function controllerRights(controller: Controller): Right[] {
  const { kind, owns, watches, sources, prune, rbac } = controller
  // `patch` writes the finalizer. A controller without cleanup needs it too, to remove the finalizer of an earlier
  // version.
  const rights = [right(kind, [...read, 'patch']), ...sources.flatMap(sourceRights)]
  if (kind.subresources.includes('status')) rights.push(right(kind, ['patch'], 'status'))
  // Required on the owner where the server enforces permissions for blockOwnerDeletion.
  if (owns.length > 0) rights.push(right(kind, ['update'], 'finalizers'))
  for (const owned of owns) {
    rights.push(right(owned.kind, [...read, 'create', 'patch', ...(prune ? ['delete'] : [])]))
  }
  for (const watch of watches) rights.push(right(watch.kind, read))
  rights.push(...rbac.map(ruleRight))
  return rights
}

function keyControllerRights({ sources, rbac = [] }: KeyController): Right[] {
  return [...sources.flatMap(sourceRights), ...rbac.map(ruleRight)]
}

// Rules written by hand may not state the scope of their resources: then it is assumed to be a namespace.
function ruleRight(rule: AccessRule): Right {
  return { rule, isCluster: rule.clusterScoped === true }
}

function sourceRights({ kind }: Source): Right[] {
  return kind === undefined ? [] : [right(kind, read)]
}

function right(kind: AnyKind, verbs: readonly string[], subresource?: string): Right {
  const resource = subresource === undefined ? kind.plural : `${kind.plural}/${subresource}`
  return { rule: { apiGroups: [kind.group], resources: [resource], verbs }, isCluster: kind.scope === 'Cluster' }
}

const eventRule: PolicyRule = { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] }

/** Needed to authorize the clients of the metrics server. */
const reviewRules: readonly PolicyRule[] = [
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
]
