import type { AnyKind } from '@kubewright/api'

/** A rule of a Role: a permission that a controller needs in addition to those derived from its definition. */
export interface AccessRule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly verbs: readonly string[]
  readonly resourceNames?: readonly string[]
  /**
   * Whether the resources are cluster-scoped: then a ClusterRole grants the permission, even for an operator that is
   * limited to some namespaces. @default false
   */
  readonly clusterScoped?: boolean | undefined
}

/** The verbs of requests for objects. */
export type AccessVerb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection'

/**
 * A permission for all objects of a kind, for the `rbac` of controllers and webhooks. Write a rule by hand for
 * subresources, single names and special verbs such as `bind`.
 *
 * @example
 * rbac: [can(Job, 'delete'), can(Node, 'get', 'list')]
 */
export function can(kind: AnyKind, verb: AccessVerb, ...verbs: readonly AccessVerb[]): AccessRule {
  return Object.freeze({
    apiGroups: Object.freeze([kind.group]),
    resources: Object.freeze([kind.plural]),
    verbs: Object.freeze([verb, ...verbs]),
    ...(kind.scope === 'Cluster' ? { clusterScoped: true } : {}),
  })
}
