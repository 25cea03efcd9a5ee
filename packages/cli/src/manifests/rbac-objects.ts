import { mergeRules, type PolicyRule } from '@kubewright/runtime'
import type { Manifest } from './manifest.ts'
import { clusterMeta, labelsOf, type ObjectContext, ownMeta, shortGroup } from './object-context.ts'
import { type DescribedResource, hasWebhooks, ownNamespace } from './operator-description.ts'

/** The label that names the namespace of an object outside the namespace of the operator. */
export const placeLabel = 'kubewright.dev/namespace'

const apiGroup = 'rbac.authorization.k8s.io'
const apiVersion = `${apiGroup}/v1`

/** The service account of the operator. */
export function serviceAccount(context: ObjectContext): Manifest {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: ownMeta(context, 'controller-manager') }
}

/** The permissions of the controllers: a ClusterRole, and Roles for an operator that watches some namespaces only. */
export function managerRoles(context: ObjectContext): Manifest[] {
  const { operator, options } = context
  const { cluster, watched } = operator.access
  const rules = mergeRules(cluster)
  const roles: Manifest[] = []
  if (rules.length > 0) roles.push(role(context, 'ClusterRole', 'manager-role', rules))
  for (const namespace of watched.length === 0 ? [] : operator.namespaces) {
    if (namespace === ownNamespace || namespace === options.namespace) {
      roles.push(role(context, 'Role', 'manager-role', watched))
    } else roles.push(placed(context, namespace, role(context, 'Role', `manager-role-${namespace}`, watched)))
  }
  return roles
}

/** The permissions for leader election and sharding, usually in the namespace of the operator. */
export function leaderElectionRoles(context: ObjectContext): Manifest[] {
  const { own, elsewhere, watched } = context.operator.access
  const roles: Manifest[] = []
  const beside = isWatched(context, ownNamespace) ? rulesBeyond(own, watched) : own
  if (beside.length > 0) roles.push(role(context, 'Role', 'leader-election-role', beside))
  for (const [namespace, rules] of Object.entries(elsewhere)) {
    const needed = isWatched(context, namespace) ? rulesBeyond(rules, watched) : rules
    roles.push(placed(context, namespace, role(context, 'Role', `leader-election-role-${namespace}`, needed)))
  }
  return roles
}

/** The permissions to store the certificate of the webhooks. config/certmanager removes them. */
export function certificateRoles(context: ObjectContext): Manifest[] {
  const { certificates } = context.operator.access
  return hasWebhooks(context.operator) ? [role(context, 'Role', 'webhook-cert-role', mergeRules(certificates.own))] : []
}

/** The permissions to register the CA of the webhooks. config/certmanager removes them. */
export function trustRoles(context: ObjectContext): Manifest[] {
  const rules = mergeRules(context.operator.access.certificates.cluster)
  return rules.length === 0 ? [] : [role(context, 'ClusterRole', 'webhook-trust-role', rules)]
}

/** The permission to authenticate and authorize readers of metrics. */
export function metricsAuthRole(context: ObjectContext): Manifest {
  return role(context, 'ClusterRole', 'metrics-auth-role', [
    { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
    { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
  ])
}

/** The permission to read metrics, to be bound to the service account of Prometheus. */
export function metricsReaderRole(context: ObjectContext): Manifest {
  return role(context, 'ClusterRole', 'metrics-reader', [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }])
}

/** The roles for users of a resource. The operator itself does not use them. */
export const helperRoles = ['admin', 'editor', 'viewer'] as const

/** A role that cluster administrators can grant to users of a resource. */
export function helperRole(
  context: ObjectContext,
  { crd }: DescribedResource,
  who: (typeof helperRoles)[number],
): Manifest {
  const { group, names, versions } = crd.spec
  const verbs = {
    admin: ['*'],
    editor: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
    viewer: ['get', 'list', 'watch'],
  }
  const rules: PolicyRule[] = [{ apiGroups: [group], resources: [names.plural], verbs: verbs[who] }]
  if (versions.some(({ subresources }) => subresources?.status)) {
    rules.push({ apiGroups: [group], resources: [`${names.plural}/status`], verbs: ['get'] })
  }
  return role(context, 'ClusterRole', `${helperName(context, crd.spec, '-')}-${who}-role`, rules)
}

/** The name of the helper roles of a resource, with its group if the operator has several groups. */
export function helperName(
  { operator }: Pick<ObjectContext, 'operator'>,
  { group, names }: DescribedResource['crd']['spec'],
  separator: '-' | '_',
): string {
  const groups = new Set(operator.resources.map(({ crd }) => crd.spec.group))
  return groups.size > 1
    ? `${shortGroup(operator, group).replaceAll('.', separator)}${separator}${names.singular}`
    : names.singular
}

/** Whether a namespace is watched, so that the operator has its `watched` permissions there. */
function isWatched({ operator, options }: ObjectContext, namespace: string): boolean {
  const place = (name: string): string => (name === ownNamespace ? options.namespace : name)
  return operator.namespaces.some((watched) => place(watched) === place(namespace))
}

/** The permissions of `rules` that no other role grants yet, so that no permission is granted twice. */
function rulesBeyond(rules: readonly PolicyRule[], granted: readonly PolicyRule[]): PolicyRule[] {
  const known = new Set(granted.flatMap(singleRights).map((right) => JSON.stringify(right)))
  return mergeRules(rules.flatMap(singleRights).filter((right) => !known.has(JSON.stringify(right))))
}

function singleRights({ apiGroups = [], resources = [], verbs, ...named }: PolicyRule): PolicyRule[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.map((verb) => ({ apiGroups: [group], resources: [resource], verbs: [verb], ...named })),
    ),
  )
}

function role(
  context: ObjectContext,
  kind: 'Role' | 'ClusterRole',
  name: string,
  rules: readonly PolicyRule[],
): Manifest {
  const metadata = kind === 'Role' ? ownMeta(context, name) : clusterMeta(context, name)
  return { apiVersion, kind, metadata, rules }
}

function placed(context: ObjectContext, namespace: string, object: Manifest): Manifest {
  const labels = { ...labelsOf(context), [placeLabel]: namespace }
  return { ...object, metadata: { ...object.metadata, labels, namespace } }
}

/** Binds a role to the service account of the operator. */
export function roleBinding(context: ObjectContext, { kind, metadata }: Manifest): Manifest {
  // kustomize does not rename the account in bindings of other namespaces: they contain its full name.
  const isElsewhere = metadata.labels?.[placeLabel] !== undefined
  const { prefix, namespace } = isElsewhere
    ? { prefix: `${context.operator.name}-`, namespace: context.options.namespace }
    : context.naming
  return {
    apiVersion,
    kind: `${kind}Binding`,
    metadata: { ...metadata, name: metadata.name.replace(/-role(?=-|$)/, '-rolebinding') },
    roleRef: { apiGroup, kind, name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', name: `${prefix}controller-manager`, namespace }],
  }
}
