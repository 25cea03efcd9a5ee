import { mergeRules } from '@kubewright/runtime'
import { derived, editable, type GeneratedFile, type GeneratedFiles, markedTemplate } from './generated-file.ts'
import {
  asTemplate,
  choice,
  definitionTemplate,
  managerTemplate,
  releaseNamespace,
  template,
  webhookTemplate,
} from './helm-templates.ts'
import { type InstallationParts, installationParts } from './installation-parts.ts'
import { certificateObjects, managerDeployment } from './manager-objects.ts'
import { yamlOf } from './manifest.ts'
import { type ManifestOptions, type ResolvedOptions, resolveOptions } from './manifest-options.ts'
import { clusterMeta, type ObjectContext } from './object-context.ts'
import { hasWebhooks, type OperatorDescription } from './operator-description.ts'
import { roleBinding } from './rbac-objects.ts'
import { conversionOf, markGenerated } from './webhook-objects.ts'

/** The options of {@link chartFiles}. */
export interface ChartOptions extends ManifestOptions {
  /** @default '0.1.0' */
  readonly version?: string | undefined
  readonly description?: string | undefined
}

const folder = 'dist/chart'

/**
 * The files of a Helm chart. Users configure it in values.yaml, which keeps their changes; Chart.yaml is written once. Names begin with
 * that of the operator, not of the release, because an operator is installed once.
 */
export function chartFiles(operator: OperatorDescription, options: ChartOptions = {}): GeneratedFiles {
  const resolved = resolveOptions(operator.name, options)
  const naming = { prefix: `${operator.name}-`, namespace: releaseNamespace, isNamespaceGiven: true }
  const context: ObjectContext = {
    operator,
    naming,
    options: { ...resolved, namespace: releaseNamespace, certManager: false },
  }
  const parts = installationParts(context)
  // Without the permissions for certificates: the chart has roles of their own for them, which the values can turn off.
  const certified = installationParts({ ...context, options: { ...context.options, certManager: true } })
  const { manager } = certified
  const files = new Map<string, GeneratedFile>()
  const add = (path: string, text: string): void => void files.set(`${folder}/templates/${path}`, markedTemplate(text))
  for (const { crd, isConverted } of operator.resources) {
    const conversion = isConverted ? conversionOf(context) : undefined
    add(
      `crd/${crd.spec.group}_${crd.spec.names.plural}.yaml`,
      definitionTemplate(context, markGenerated(crd), conversion),
    )
  }
  add('manager/manager.yaml', managerTemplate(context))
  add('rbac/service-account.yaml', template(undefined, parts.serviceAccount))
  add('rbac/manager-role.yaml', template(undefined, ...manager.roles, ...manager.bindings))
  const elections = [...parts.leaderElection.roles, ...parts.leaderElection.bindings]
  if (elections.length > 0) add('rbac/leader-election-role.yaml', template(undefined, ...elections))
  const { metricsAuth, prometheus, networkPolicies } = parts
  const metrics = [parts.metricsService, ...metricsAuth.roles, ...metricsAuth.bindings, parts.metricsReader]
  add('metrics/metrics.yaml', template('.Values.metrics.enabled', ...metrics))
  const helpers = parts.helpers.map(({ role }) => role)
  if (helpers.length > 0) add('rbac/helper-roles.yaml', template('.Values.rbac.helpers.enabled', ...helpers))
  const monitor = hasWebhooks(operator)
    ? choice(
        'and .Values.webhook.enabled .Values.certManager.enabled',
        certified.prometheus.monitor,
        prometheus.monitor,
      )
    : template(undefined, prometheus.monitor)
  const rules = template(undefined, prometheus.rules)
  add('prometheus/prometheus.yaml', `{{- if .Values.prometheus.enabled }}\n${monitor}---\n${rules}{{- end }}\n`)
  add('network-policy/metrics.yaml', template('.Values.networkPolicy.enabled', networkPolicies.metrics))
  if (hasWebhooks(operator)) addWebhooks(context, parts, add)
  files.set(`${folder}/templates/NOTES.txt`, derived(notes(context)))
  files.set(`${folder}/values.yaml`, editable(valuesOf(context, resolved)))
  files.set(`${folder}/Chart.yaml`, { text: chartYaml(operator, options), care: 'once' })
  files.set(`${folder}/.helmignore`, { text: '.DS_Store\n.git/\n*.tmp\n', care: 'once' })
  return files
}

function addWebhooks(
  context: ObjectContext,
  { webhooks, certificates, networkPolicies }: InstallationParts,
  add: (path: string, text: string) => void,
): void {
  add('webhook/service.yaml', template('.Values.webhook.enabled', ...webhooks.service))
  if (webhooks.configurations.length > 0)
    add('webhook/webhooks.yaml', webhookTemplate(context, webhooks.configurations))
  const trust = {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: clusterMeta(context, 'webhook-trust-role'),
    rules: mergeRules(context.operator.access.certificates.cluster),
  }
  const own = [trust, roleBinding(context, trust), ...certificates.roles, ...certificates.bindings]
  const isSelfManaged = 'and .Values.webhook.enabled (not .Values.certManager.enabled)'
  add('rbac/webhook-cert-role.yaml', template(isSelfManaged, ...own))
  const isCertManager = 'and .Values.webhook.enabled .Values.certManager.enabled'
  add('cert-manager/certificate.yaml', template(isCertManager, ...certificateObjects(context)))
  const isClosed = 'and .Values.webhook.enabled .Values.networkPolicy.enabled'
  add('network-policy/webhook.yaml', template(isClosed, ...networkPolicies.webhooks))
}

function valuesOf(context: ObjectContext, chosen: ResolvedOptions): string {
  const { spec } = managerDeployment(context, 'whole') as unknown as {
    spec: {
      template: { spec: { containers: [{ resources: object; securityContext: object }]; securityContext: object } }
    }
  }
  const pod = spec.template.spec
  const [container] = pod.containers
  const { repository, tag } = splitImage(chosen.image)
  const section = (comment: string, value: object): string => `# ${comment}\n${yamlOf(value)}`
  return [
    section('The pods of the operator. args are additional flags; an empty tag selects the appVersion of the chart.', {
      manager: {
        affinity: {},
        args: [],
        env: [],
        image: { pullPolicy: 'IfNotPresent', repository, tag },
        imagePullSecrets: [],
        nodeSelector: {},
        podAnnotations: {},
        podLabels: {},
        podSecurityContext: pod.securityContext,
        replicas: 1,
        resources: container.resources,
        securityContext: container.securityContext,
        tolerations: [],
      },
    }),
    section('Roles for users of each kind: admin, editor and viewer.', { rbac: { helpers: { enabled: true } } }),
    section('The CRDs. With keep, they stay with all their objects when the release is uninstalled.', {
      crd: { enabled: true, keep: true },
    }),
    section('Metrics over HTTPS, for clients that may get /metrics.', { metrics: { enabled: true } }),
    section('The webhooks of the operator.', { webhook: { enabled: true } }),
    section('Let cert-manager issue the certificate of the webhooks, instead of the operator.', {
      certManager: { enabled: chosen.certManager },
    }),
    section('Scraping and alerts. Requires the Prometheus operator.', {
      prometheus: { enabled: chosen.prometheus },
    }),
    section('Add a NetworkPolicy that admits only connections to the ports for metrics and webhooks.', {
      networkPolicy: { enabled: chosen.networkPolicy },
    }),
  ].join('\n')
}

function chartYaml({ name }: OperatorDescription, { version = '0.1.0', description }: ChartOptions): string {
  return yamlOf({
    apiVersion: 'v2',
    appVersion: version,
    description: description ?? `The operator ${name}`,
    name,
    type: 'application',
    version,
  })
}

function notes({ operator }: ObjectContext): string {
  const kinds = operator.resources.map(({ crd }) => crd.metadata.name)
  return asTemplate(`${operator.name} runs in ${releaseNamespace}:
  kubectl -n ${releaseNamespace} rollout status deployment/${operator.name}-controller-manager
${kinds.map((kind) => `  kubectl explain ${kind.split('.')[0]}\n`).join('')}`)
}

function splitImage(image: string): { repository: string; tag: string } {
  const colon = image.lastIndexOf(':')
  return colon > image.lastIndexOf('/')
    ? { repository: image.slice(0, colon), tag: image.slice(colon + 1) }
    : { repository: image, tag: 'latest' }
}
