import { KubewrightError } from '@kubewright/base'
import type { ApiClient, Impersonation, Transport, TransportBody } from '@kubewright/client'
import type { ControlPlane } from '@kubewright/controlplane'
import { ClusterRole, ClusterRoleBinding } from '@kubewright/k8s'
import { accessOf, mergeRules, type Operator } from '@kubewright/runtime'

/**
 * Grants what the manifests of an operator would grant, but for the namespaces that they name, and says as whom it has that: the account
 * that it would have in a cluster. From then on the API server knows.
 */
export async function grantRights(
  operator: Operator,
  controlPlane: ControlPlane,
  admin: ApiClient,
): Promise<Impersonation> {
  const namespace = `${operator.name}-system`
  const user = `system:serviceaccount:${namespace}:${operator.name}-controller-manager`
  const { cluster, watched, own, elsewhere } = accessOf(operator, { secureMetrics: false, managedCertificates: false })
  const rules = mergeRules([...cluster, ...watched, ...own, ...[...elsewhere.values()].flat()])
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
  // Authorization looks at a cache of the roles.
  const { feed, store } = controlPlane.server.parts.registry
  await feed.reached(await store.revision())
  return { user, groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'] }
}

/** A way to the API server that tells when a request is refused for lack of a right. */
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

// What webhooks and quotas refuse is put in other words.
const lackOfRight = /cannot (\w+) resource ("[^"]+") in API group ("[^"]*")/

function refusalOf(text: string): KubewrightError | undefined {
  const match = lackOfRight.exec(text.replaceAll('\\"', '"'))
  if (match === null) return undefined
  const [, verb, resource, group] = match.map((part) => part.replaceAll('"', "'"))
  return new KubewrightError(
    'KW_TEST_MISSING_RIGHT',
    `The operator may not ${verb} ${resource} of the API group ${group}: add { apiGroups: [${group}], resources: [${resource}], verbs: ['${verb}'] } to the 'rbac' of its controller or webhook, from which its roles are made, or start the environment with rights: 'all'`,
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
