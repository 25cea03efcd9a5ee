import { KubewrightError } from '@kubewright/base'
import type { ApiClient, Impersonation, Transport, TransportBody } from '@kubewright/client'
import type { ControlPlane } from '@kubewright/controlplane'
import { ClusterRole, ClusterRoleBinding } from '@kubewright/k8s'
import { accessOf, mergeRules, type Operator } from '@kubewright/runtime'

/**
 * Grants the permissions that the operator's manifests would grant, in all namespaces, and returns the service account to
 * impersonate, which has the same name as in a cluster. Resolves when the API server authorizes by the new roles.
 */
export async function grantRights(
  operator: Operator,
  controlPlane: ControlPlane,
  admin: ApiClient,
): Promise<Impersonation> {
  const { user, groups, rules } = rightsOf(operator)
  const metadata = { name: `${operator.name}-manager-role` }
  const apiGroup = 'rbac.authorization.k8s.io'
  await admin.apply(ClusterRole({ metadata, rules }), { force: true })
  await admin.apply(
    ClusterRoleBinding({
      metadata,
      roleRef: { apiGroup, kind: 'ClusterRole', name: metadata.name },
      subjects: [{ apiGroup, kind: 'User', name: user }],
    }),
    { force: true },
  )
  // Authorization uses a cache of the roles: wait until it is up to date.
  const { feed, store } = controlPlane.server.parts.registry
  await feed.reached(await store.revision())
  return { user, groups }
}

/** The permissions of an operator, and the user that has them. */
export interface OperatorRights {
  readonly user: string
  readonly groups: readonly string[]
  readonly rules: ReturnType<typeof mergeRules>
}

/** The permissions that the manifests of an operator grant, and the user that has them in a cluster. */
export function rightsOf(operator: Operator): OperatorRights {
  const namespace = `${operator.name}-system`
  const { cluster, watched, own, elsewhere } = accessOf(operator, { secureMetrics: false, managedCertificates: false })
  return {
    user: `system:serviceaccount:${namespace}:${operator.name}-controller-manager`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    rules: mergeRules([...cluster, ...watched, ...own, ...[...elsewhere.values()].flat()]),
  }
}

/** Wraps a transport to report requests that are rejected because the operator lacks a permission. */
export function tellingRefusals(transport: Transport, tell: (refusal: KubewrightError) => void): Transport {
  const { upgrade } = transport
  return {
    host: transport.host,
    async send(request) {
      const response = await transport.send(request)
      if (response.status !== 403) return response
      const bytes = await response.body.bytes()
      const refusal = refusalOf(Buffer.from(bytes).toString())
      if (refusal !== undefined) tell(refusal)
      return { ...response, body: bodyOf(bytes) }
    },
    ...(upgrade ? { upgrade: (request) => upgrade.call(transport, request) } : {}),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}

// Matches RBAC rejections only: webhooks and quotas use other messages.
const lackOfRight = /cannot (\w+) resource ("[^"]+") in API group ("[^"]*")/

function refusalOf(text: string): KubewrightError | undefined {
  const match = lackOfRight.exec(text.replaceAll('\\"', '"'))
  if (match === null) return undefined
  const [, verb, resource, group] = match.map((part) => part.replaceAll('"', "'"))
  return new KubewrightError(
    'KW_TEST_MISSING_RIGHT',
    `The operator may not ${verb} ${resource} in the API group ${group}: add { apiGroups: [${group}], resources: [${resource}], verbs: ['${verb}'] } to the 'rbac' of its controller or webhook, from which its roles are generated, or start the environment with rights: 'all'`,
  )
}

function bodyOf(bytes: Uint8Array): TransportBody {
  return {
    bytes: async () => bytes,
    discard: () => undefined,
    async *[Symbol.asyncIterator]() {
      yield bytes
    },
  }
}
