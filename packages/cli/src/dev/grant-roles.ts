import { type Clock, withDeadline } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { ClusterRole, ClusterRoleBinding } from '@kubewright/k8s'
import { SubjectAccessReview } from '@kubewright/k8s/authorization/v1'
import type { PolicyRule } from '@kubewright/runtime'

/** The identity of an operator in a cluster: the service account of its generated manifests. */
export interface OperatorIdentity {
  readonly user: string
  readonly groups: readonly string[]
}

/** The service account that the generated manifests give an operator. */
export function identityOf(operator: string): OperatorIdentity {
  const namespace = `${operator}-system`
  return {
    user: `system:serviceaccount:${namespace}:${operator}-controller-manager`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  }
}

// A process outside the cluster registers its webhooks itself. In a cluster, the manifests contain the registrations.
const registrationRules: readonly PolicyRule[] = [
  {
    apiGroups: ['admissionregistration.k8s.io'],
    resources: ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'],
    verbs: ['create', 'delete', 'get', 'patch'],
  },
  { apiGroups: ['apiextensions.k8s.io'], resources: ['customresourcedefinitions'], verbs: ['get', 'patch'] },
]

/**
 * Grants an operator the permissions of its generated roles, in all namespaces, and those for registering its webhooks. Resolves when the
 * API server authorizes by them.
 */
export async function grantRoles(
  client: ApiClient,
  { operator, rules, webhooks }: { operator: string; rules: readonly PolicyRule[]; webhooks: boolean },
  clock: Clock,
): Promise<OperatorIdentity> {
  const identity = identityOf(operator)
  const granted = [...rules, ...(webhooks ? registrationRules : [])]
  const metadata = { name: `${operator}-dev-role` }
  const apiGroup = 'rbac.authorization.k8s.io'
  const options = { fieldManager: 'kubewright-dev', force: true }
  await client.apply(ClusterRole({ metadata, rules: granted }), options)
  await client.apply(
    ClusterRoleBinding({
      metadata,
      roleRef: { apiGroup, kind: 'ClusterRole', name: metadata.name },
      subjects: [{ apiGroup, kind: 'User', name: identity.user }],
    }),
    options,
  )
  // The API server authorizes by a cache of the roles.
  await withDeadline(clock, '10s', `the role ${metadata.name} to take effect`, async (signal) => {
    for (const rule of granted.filter(({ resources = [] }) => resources.length > 0)) {
      while (!(await isAllowed(client, identity, rule))) await clock.sleep(20, { signal })
    }
  })
  return identity
}

async function isAllowed(client: ApiClient, { user, groups }: OperatorIdentity, rule: PolicyRule): Promise<boolean> {
  const [resource = '', subresource = ''] = (rule.resources?.[0] ?? '').split('/')
  const resourceAttributes = {
    group: rule.apiGroups?.[0] ?? '',
    resource,
    subresource,
    verb: rule.verbs[0] ?? '',
    ...(rule.resourceNames?.[0] === undefined ? {} : { name: rule.resourceNames[0] }),
  }
  const review = await client.create(
    SubjectAccessReview({ metadata: {}, spec: { user, groups: [...groups], resourceAttributes } }),
  )
  return review.status?.allowed === true
}
