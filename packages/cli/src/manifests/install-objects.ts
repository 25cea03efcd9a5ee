import {
  certificateObjects,
  managerDeployment,
  managerNamespace,
  metricsNetworkPolicy,
  metricsService,
  serviceMonitor,
  webhookNetworkPolicy,
} from './manager-objects.ts'
import { type Manifest, yamlOf } from './manifest.ts'
import { type ManifestOptions, resolveOptions } from './manifest-options.ts'
import type { ObjectContext } from './object-context.ts'
import { hasWebhooks, type OperatorDescription } from './operator-description.ts'
import { prometheusRules } from './prometheus-rules.ts'
import {
  certificateBindings,
  certificateRoles,
  helperRole,
  helperRoles,
  leaderElectionBindings,
  leaderElectionRoles,
  managerBindings,
  managerRoles,
  metricsAuthBinding,
  metricsAuthRole,
  metricsReaderRole,
  serviceAccount,
} from './rbac-objects.ts'
import { definitionOf, webhookConfigurationsOf, webhookService } from './webhook-objects.ts'

/** The names that objects have in a cluster. */
export function clusterContext(operator: OperatorDescription, options: ManifestOptions = {}): ObjectContext {
  const resolved = resolveOptions(operator.name, options)
  return { operator, options: resolved, naming: { prefix: `${operator.name}-`, namespace: resolved.namespace } }
}

/** The definitions of an operator's resources: what `install` installs. */
export function definitionsOf(operator: OperatorDescription, options: ManifestOptions = {}): Manifest[] {
  const context = clusterContext(operator, options)
  return operator.resources.map((resource) => definitionOf(context, resource))
}

/**
 * Everything that an operator needs in a cluster, in an order in which it can be applied: the objects that
 * `kubectl kustomize config/default` gives as long as nobody changes config/.
 */
export function installObjects(operator: OperatorDescription, options: ManifestOptions = {}): Manifest[] {
  const context = clusterContext(operator, options)
  const { prometheus, networkPolicy, certManager } = context.options
  const webhooks = hasWebhooks(operator)
  return [
    managerNamespace(context),
    ...definitionsOf(operator, options),
    serviceAccount(context),
    ...rolesOf(context),
    ...(webhooks ? [webhookService(context)] : []),
    metricsService(context),
    managerDeployment(context, 'whole'),
    ...(webhooks && certManager ? certificateObjects(context) : []),
    ...(prometheus ? [serviceMonitor(context), prometheusRules(context)] : []),
    ...(networkPolicy ? [metricsNetworkPolicy(context), ...(webhooks ? [webhookNetworkPolicy(context)] : [])] : []),
    ...webhookConfigurationsOf(context),
  ]
}

/** One file with everything: dist/install.yaml. */
export function installManifest(operator: OperatorDescription, options: ManifestOptions = {}): string {
  return yamlOf(...installObjects(operator, options))
}

function rolesOf(context: ObjectContext): Manifest[] {
  return [
    ...managerRoles(context),
    ...managerBindings(context),
    ...leaderElectionRoles(context),
    ...leaderElectionBindings(context),
    ...certificateRoles(context),
    ...certificateBindings(context),
    metricsAuthRole(context),
    metricsAuthBinding(context),
    metricsReaderRole(context),
    ...context.operator.resources.flatMap((resource) => helperRoles.map((who) => helperRole(context, resource, who))),
  ]
}
