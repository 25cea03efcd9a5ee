import { mergeRules } from '@kubewright/runtime'
import { derived, editable, type GeneratedFile, type GeneratedFiles, markedTemplate } from './generated-file.ts'
import {
  asTemplate,
  definitionTemplate,
  managerTemplate,
  releaseNamespace,
  template,
  webhookTemplate,
} from './helm-templates.ts'
import {
  certificateObjects,
  managerDeployment,
  metricsNetworkPolicy,
  metricsService,
  serviceMonitor,
  webhookNetworkPolicy,
} from './manager-objects.ts'
import { yamlOf } from './manifest.ts'
import { type ManifestOptions, type ResolvedOptions, resolveOptions } from './manifest-options.ts'
import { clusterMeta, type ObjectContext } from './object-context.ts'
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
import { conversionOf, markGenerated, webhookConfigurationsOf, webhookService } from './webhook-objects.ts'

/** What {@link chartFiles} takes besides the operator. */
export interface ChartOptions extends ManifestOptions {
  /** @default '0.1.0' */
  readonly version?: string | undefined
  readonly description?: string | undefined
}

const folder = 'dist/chart'

/**
 * A Helm chart of an operator. What people choose is in values.yaml, which is left alone once it was changed; Chart.yaml is never
 * written twice. Names begin with that of the operator, whatever the release is called: an operator is installed once.
 */
export function chartFiles(operator: OperatorDescription, options: ChartOptions = {}): GeneratedFiles {
  const resolved = resolveOptions(operator.name, options)
  const naming = { prefix: `${operator.name}-`, namespace: releaseNamespace, isNamespaceGiven: true }
  // Without what the operator's own certificates take: that has roles of its own, which the values turn off.
  const context: ObjectContext = {
    operator,
    naming,
    options: { ...resolved, namespace: releaseNamespace, certManager: true },
  }
  const plain: ObjectContext = { ...context, options: { ...context.options, certManager: false } }
  const files = new Map<string, GeneratedFile>()
  const add = (path: string, text: string): void => void files.set(`${folder}/templates/${path}`, markedTemplate(text))
  for (const { crd, isConverted } of operator.resources) {
    const conversion = isConverted ? conversionOf(plain) : undefined
    add(
      `crd/${crd.spec.group}_${crd.spec.names.plural}.yaml`,
      definitionTemplate(plain, markGenerated(crd), conversion),
    )
  }
  add('manager/manager.yaml', managerTemplate(plain))
  add('rbac/service-account.yaml', template(undefined, serviceAccount(plain)))
  add('rbac/manager-role.yaml', template(undefined, ...managerRoles(context), ...managerBindings(context)))
  const elections = [...leaderElectionRoles(plain), ...leaderElectionBindings(plain)]
  if (elections.length > 0) add('rbac/leader-election-role.yaml', template(undefined, ...elections))
  add(
    'metrics/metrics.yaml',
    template(
      '.Values.metrics.enabled',
      metricsService(plain),
      metricsAuthRole(plain),
      metricsAuthBinding(plain),
      metricsReaderRole(plain),
    ),
  )
  const helpers = operator.resources.flatMap((resource) => helperRoles.map((who) => helperRole(plain, resource, who)))
  if (helpers.length > 0) add('rbac/helper-roles.yaml', template('.Values.rbac.helpers.enabled', ...helpers))
  add(
    'prometheus/prometheus.yaml',
    template('.Values.prometheus.enabled', serviceMonitor(plain), prometheusRules(plain)),
  )
  add('network-policy/metrics.yaml', template('.Values.networkPolicy.enabled', metricsNetworkPolicy(plain)))
  if (hasWebhooks(operator)) addWebhooks(plain, add)
  files.set(`${folder}/templates/NOTES.txt`, derived(notes(plain)))
  files.set(`${folder}/values.yaml`, editable(valuesOf(plain, resolved)))
  files.set(`${folder}/Chart.yaml`, { text: chartYaml(operator, options), care: 'once' })
  files.set(`${folder}/.helmignore`, { text: '.DS_Store\n.git/\n*.tmp\n', care: 'once' })
  return files
}

function addWebhooks(context: ObjectContext, add: (path: string, text: string) => void): void {
  add('webhook/service.yaml', template('.Values.webhook.enabled', webhookService(context)))
  const configurations = webhookConfigurationsOf(context)
  if (configurations.length > 0) add('webhook/webhooks.yaml', webhookTemplate(context, configurations))
  const rules = mergeRules(context.operator.access.certificates.cluster)
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }
  const metadata = clusterMeta(context, 'webhook-trust-role')
  const trust = { ...role, metadata, rules }
  const binding = {
    ...role,
    kind: 'ClusterRoleBinding',
    metadata: clusterMeta(context, 'webhook-trust-rolebinding'),
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
    subjects: [
      { kind: 'ServiceAccount', name: `${context.naming.prefix}controller-manager`, namespace: releaseNamespace },
    ],
  }
  const own = [...certificateRoles(context), ...certificateBindings(context)]
  const isOwn = 'and .Values.webhook.enabled (not .Values.certManager.enabled)'
  add('rbac/webhook-cert-role.yaml', template(isOwn, trust, binding, ...own))
  const isTheirs = 'and .Values.webhook.enabled .Values.certManager.enabled'
  add('cert-manager/certificate.yaml', template(isTheirs, ...certificateObjects(context)))
  add(
    'network-policy/webhook.yaml',
    template('and .Values.webhook.enabled .Values.networkPolicy.enabled', webhookNetworkPolicy(context)),
  )
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
    section('The pods of the operator. args are further flags; an empty tag is the version of the chart.', {
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
    section('Roles for people: admin, editor and viewer of each kind.', { rbac: { helpers: { enabled: true } } }),
    section('The CRDs. Those that are kept stay, with all their objects, when the release goes.', {
      crd: { enabled: true, keep: true },
    }),
    section('Metrics over HTTPS, for those whom the cluster lets.', { metrics: { enabled: true } }),
    section('The webhooks of the operator, if it has any.', { webhook: { enabled: true } }),
    section('cert-manager looks after the certificate of the webhooks; else the operator does so itself.', {
      certManager: { enabled: chosen.certManager },
    }),
    section('Scraping and alerts; needs the operator of Prometheus.', {
      prometheus: { enabled: chosen.prometheus },
    }),
    section('Closes the pods to all but metrics and webhooks.', {
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
