import { installationParts } from './installation-parts.ts'
import { certificateObjects, managerDeployment, managerNamespace } from './manager-objects.ts'
import { type Manifest, yamlOf } from './manifest.ts'
import { type ManifestOptions, resolveOptions } from './manifest-options.ts'
import type { ObjectContext } from './object-context.ts'
import { hasWebhooks, type OperatorDescription } from './operator-description.ts'
import { definitionOf } from './webhook-objects.ts'

/** The context for objects with the names that they have in a cluster. */
export function clusterContext(operator: OperatorDescription, options: ManifestOptions = {}): ObjectContext {
  const resolved = resolveOptions(operator.name, options)
  return { operator, options: resolved, naming: { prefix: `${operator.name}-`, namespace: resolved.namespace } }
}

/** The CRDs of an operator, as `install` applies them. */
export function definitionsOf(operator: OperatorDescription, options: ManifestOptions = {}): Manifest[] {
  const context = clusterContext(operator, options)
  return operator.resources.map((resource) => definitionOf(context, resource))
}

/**
 * All objects of an operator, in an order in which they can be applied. Equal to the output of `kubectl kustomize config/default` for an
 * unchanged config/.
 */
export function installObjects(operator: OperatorDescription, options: ManifestOptions = {}): Manifest[] {
  const context = clusterContext(operator, options)
  const { prometheus, networkPolicy, certManager } = context.options
  const parts = installationParts(context)
  const { manager, leaderElection, certificates, metricsAuth, networkPolicies } = parts
  return [
    managerNamespace(context),
    ...definitionsOf(operator, options),
    parts.serviceAccount,
    ...[manager, leaderElection, certificates, metricsAuth].flatMap(({ roles, bindings }) => [...roles, ...bindings]),
    parts.metricsReader,
    ...parts.helpers.map(({ role }) => role),
    ...parts.webhooks.service,
    parts.metricsService,
    managerDeployment(context, 'whole'),
    ...(hasWebhooks(operator) && certManager ? certificateObjects(context) : []),
    ...(prometheus ? [parts.prometheus.monitor, parts.prometheus.rules] : []),
    ...(networkPolicy ? [networkPolicies.metrics, ...networkPolicies.webhooks] : []),
    ...parts.webhooks.configurations,
  ]
}

/** The text of dist/install.yaml, with all objects. */
export function installManifest(operator: OperatorDescription, options: ManifestOptions = {}): string {
  return yamlOf(...installObjects(operator, options))
}
