import { nullLogger, type VirtualClock } from '@kubewright/base'
import type { Impersonation } from '@kubewright/client'
import type { ControlPlane } from '@kubewright/controlplane'
import { ClusterRole, ClusterRoleBinding, Namespace } from '@kubewright/k8s'
import { createWebhookHandler, definitionsOf, mergeRules, type Operator, registerLocally } from '@kubewright/runtime'
import { rulesOf } from '../plan/operator-facts.ts'
import { otherNamespace } from '../plan/samples.ts'

/** The host of the operator's webhooks. It is never resolved. */
export const webhookHost = 'webhooks.kubewright.test:443'

/** Installs the kinds, the permissions and the webhooks of the operator. */
export async function installOperator(
  plane: ControlPlane,
  operator: Operator,
  clock: VirtualClock,
): Promise<Impersonation> {
  const admin = plane.client()
  await admin.create(Namespace({ metadata: { name: otherNamespace } }))
  // The CRD is untyped here; the server validates it.
  for (const crd of definitionsOf(operator)) await admin.apply(crd as never, { force: true })
  const account = `system:serviceaccount:${operator.name}-system:${operator.name}-controller-manager`
  const rules = mergeRules(rulesOf(operator))
  const metadata = { name: `${operator.name}-manager-role` }
  const apiGroup = 'rbac.authorization.k8s.io'
  await admin.apply(ClusterRole({ metadata, rules }), { force: true })
  const roleRef = { apiGroup, kind: 'ClusterRole', name: metadata.name }
  const subjects = [{ apiGroup, kind: 'User', name: account }]
  await admin.apply(ClusterRoleBinding({ metadata, roleRef, subjects }), { force: true })
  await clock.sleep(2000)
  if (operator.webhooks.length + operator.conversions.length > 0) {
    const { webhooks, conversions } = operator
    const handler = createWebhookHandler({
      webhooks,
      conversions,
      client: plane.client({ listNamespace: '' }),
      clock,
      log: nullLogger,
    })
    plane.localServers.serve(webhookHost, async (request) => handler(request as never))
    const url = `https://${webhookHost.replace(':443', '')}`
    await registerLocally(operator, { client: admin, url, caBundle: '', log: nullLogger })
    await clock.sleep(1000)
  }
  return { user: account, groups: ['system:serviceaccounts', 'system:authenticated'] }
}
