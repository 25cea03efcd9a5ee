import { isJsonObject } from '@kubewright/base'
import { type ChartContent, type ChartObject, placeholders } from './chart-objects.ts'
import type { ChartValue } from './chart-values.ts'
import { managerContainer, podSpecOf } from './config-variants.ts'
import { imageParts } from './image-parts.ts'
import {
  allOf,
  expanded,
  listAt,
  type MapNode,
  mapAt,
  type TemplateField,
  type TemplateNode,
  templateText,
} from './template-tree.ts'

/** The fields of the pods that values replace. */
const podFields = ['affinity', 'imagePullSecrets', 'nodeSelector', 'tolerations', 'topologySpreadConstraints'] as const

/** The values of a chart. Defaults are those of config/. */
export function chartValues(chart: ChartContent): ChartValue[] {
  const { manager, chosen, hasWebhooks } = chart
  const pod = podSpecOf(manager)
  const container = managerContainer(manager) ?? {}
  const { replicas } = manager['spec'] as { replicas?: number | undefined }
  const { repository, tag, digest } = imageParts(String(container['image'] ?? 'controller'))
  const of = (path: string, comment: string, value: unknown, schema: object): ChartValue => ({
    path,
    comment,
    default: value,
    schema: schema as ChartValue['schema'],
  })
  const text = { type: 'string' }
  const flag = { type: 'boolean' }
  const pairs = { type: 'object', additionalProperties: text }
  const names = { type: 'array', items: { type: 'object', required: ['name'] } }
  const object = { type: 'object' }
  return [
    of('manager.image.repository', 'The image of the operator, without tag and digest.', repository, {
      ...text,
      minLength: 1,
    }),
    of(
      'manager.image.tag',
      'The tag of the image. The appVersion of the chart if it is empty.',
      tag ?? (digest === undefined ? 'latest' : ''),
      text,
    ),
    of(
      'manager.image.digest',
      'The digest of the image, such as sha256:…; the tag is ignored if it is set.',
      digest ?? '',
      {
        ...text,
        pattern: '^(sha256:[0-9a-f]{64})?$',
      },
    ),
    of('manager.image.pullPolicy', 'When nodes pull the image.', container['imagePullPolicy'] ?? 'IfNotPresent', {
      enum: ['Always', 'IfNotPresent', 'Never'],
    }),
    of(
      'manager.imagePullSecrets',
      'Secrets with the credentials of the registry, by name.',
      pod['imagePullSecrets'] ?? [],
      names,
    ),
    of('manager.replicas', 'The number of pods.', replicas ?? 1, { type: 'integer', minimum: 0 }),
    of('manager.args', 'Additional arguments of the operator.', [], { type: 'array', items: text }),
    of(
      'manager.env',
      'Additional environment variables. One with the name of a variable of the chart replaces it.\nDo not write secrets here: refer to them by valueFrom.secretKeyRef.',
      [],
      names,
    ),
    of('manager.resources', 'The resources of the container.', container['resources'] ?? {}, object),
    of('manager.podLabels', 'Additional labels of the pods.', {}, pairs),
    of('manager.podAnnotations', 'Additional annotations of the pods.', {}, pairs),
    of('manager.podSecurityContext', 'The security context of the pods.', pod['securityContext'] ?? {}, object),
    of('manager.securityContext', 'The security context of the container.', container['securityContext'] ?? {}, object),
    of('manager.nodeSelector', 'Labels of the nodes that may run the pods.', pod['nodeSelector'] ?? {}, pairs),
    of('manager.tolerations', 'The taints that the pods tolerate.', pod['tolerations'] ?? [], {
      type: 'array',
      items: object,
    }),
    of('manager.affinity', 'The affinity of the pods.', pod['affinity'] ?? {}, object),
    of(
      'manager.topologySpreadConstraints',
      'How the pods are spread over the nodes.',
      pod['topologySpreadConstraints'] ?? [],
      {
        type: 'array',
        items: object,
      },
    ),
    of('manager.priorityClassName', 'The priority class of the pods.', pod['priorityClassName'] ?? '', text),
    of(
      'namespace.create',
      'Create the namespace. Helm creates it before the objects with --create-namespace; then leave this off.',
      false,
      flag,
    ),
    of('namespace.name', 'The namespace of the operator. That of the release if it is empty.', '', {
      ...text,
      pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$',
    }),
    of('namespace.labels', 'Labels of the namespace, if the chart creates it.', namespaceLabels(chart), pairs),
    of('namespace.annotations', 'Annotations of the namespace, if the chart creates it.', {}, pairs),
    of('serviceAccount.create', 'Create the service account of the operator.', true, flag),
    of('serviceAccount.name', `The name of the service account. ${chart.serviceAccount} if it is empty.`, '', text),
    of(
      'serviceAccount.annotations',
      'Annotations of the service account, such as the role of a cloud provider.',
      {},
      pairs,
    ),
    of('rbac.helpers.enabled', 'Create roles for users of each kind: admin, editor and viewer.', true, flag),
    of('crd.enabled', 'Install the CRDs.', true, flag),
    of('crd.keep', 'Keep the CRDs with all their objects when the release is uninstalled.', true, flag),
    ...(hasWebhooks
      ? [
          of('webhook.enabled', 'Serve the webhooks of the operator.', true, flag),
          of(
            'webhook.certificates.mode',
            'Who provides the certificate of the webhooks: self-managed (the operator), cert-manager, or given (you, in a Secret).',
            chosen.certManager ? 'cert-manager' : 'self-managed',
            { enum: ['self-managed', 'cert-manager', 'given'] },
          ),
          of('webhook.certificates.secretName', 'The Secret with tls.crt and tls.key, for the mode given.', '', text),
          of(
            'webhook.certificates.caBundle',
            'The CA certificates with which the API server verifies the webhooks, in PEM and base64, for the mode given.',
            '',
            text,
          ),
        ]
      : []),
    of('metrics.enabled', 'Serve metrics over HTTPS, for clients that may get /metrics.', true, flag),
    of('metrics.serviceMonitor.enabled', 'Let the Prometheus operator scrape the metrics.', chosen.prometheus, flag),
    of('metrics.serviceMonitor.labels', 'Additional labels of the ServiceMonitor.', {}, pairs),
    of('metrics.serviceMonitor.interval', 'The interval between scrapes. That of Prometheus if it is empty.', '', text),
    of(
      'metrics.serviceMonitor.tlsConfig',
      'How Prometheus verifies the metrics server. Without it, only the certificate of cert-manager is verified.',
      {},
      object,
    ),
    of('metrics.rules.enabled', 'Install alerts for the Prometheus operator.', chosen.prometheus, flag),
    of('metrics.rules.labels', 'Additional labels of the PrometheusRule.', {}, pairs),
    of(
      'networkPolicy.enabled',
      'Admit connections only to the ports for metrics and webhooks.',
      chosen.networkPolicy,
      flag,
    ),
  ]
}

/** The rules between values: given certificates need their Secret, and an existing service account its name. */
export function schemaRules({ hasWebhooks }: ChartContent): object[] {
  const filled = { minLength: 1 }
  const rule = (section: string, when: object, then: object): object => ({
    if: { properties: { [section]: { properties: when, required: Object.keys(when) } }, required: [section] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON schemas.
    then: { properties: { [section]: then } },
  })
  const account = rule(
    'serviceAccount',
    { create: { const: false } },
    { properties: { name: filled }, required: ['name'] },
  )
  if (!hasWebhooks) return [account]
  const mode = { properties: { mode: { const: 'given' } }, required: ['mode'] }
  const given = { properties: { secretName: filled, caBundle: filled }, required: ['secretName', 'caBundle'] }
  return [account, rule('webhook', { certificates: mode }, { properties: { certificates: given } })]
}

/** The labels of the namespace in config/ that values can replace. */
function namespaceLabels({ entries }: ChartContent): object {
  const { labels = {} } = entries.find(isNamespace)?.object.metadata ?? {}
  return Object.fromEntries(Object.entries(labels).filter(([label]) => !isOwnLabel(label)))
}

const isNamespace = ({ object }: ChartObject): boolean =>
  object.kind === 'Namespace' && object.metadata.name === placeholders.namespace
const isOwnLabel = (label: string): boolean => label.startsWith('app.kubernetes.io/') || label === 'control-plane'

/** The templates of a chart by path: one for each file of config/ with objects, the helpers and the notes. */
export function chartTemplates(name: string, chart: ChartContent): Map<string, string> {
  const templates = new Map<string, string>()
  for (const entry of chart.entries) {
    const path = templatePath(entry.file)
    const text = objectTemplate(name, chart, entry)
    const before = templates.get(path)
    templates.set(path, before === undefined ? text : `${before}${text}`)
  }
  templates.set('_helpers.tpl', helpers(name, chart))
  templates.set('NOTES.txt', notes(name, chart))
  return templates
}

/** The path of the template for a file of config/: the same path, without the folder of CRDs. */
function templatePath(file: string): string {
  const path = file.replace(/^config\//, '').replace(/^crd\/bases\//, 'crd/')
  // Generated objects come from a kustomization.
  const flat = path.startsWith('..') ? path.replaceAll(/[/.]+/g, '-') : path
  return flat.replace(/(\.ya?ml)?$/, '.yaml')
}

function objectTemplate(name: string, chart: ChartContent, entry: ChartObject): string {
  const { object } = entry
  const root = expanded(entry.node) as MapNode
  const conditions = entry.condition === undefined ? [] : [entry.condition]
  const head: string[] = []
  if (object === chart.manager) head.push(...manager(root, chart))
  else if (object.kind === 'CustomResourceDefinition') {
    conditions.push('.Values.crd.enabled')
    mapAt(root, 'metadata', 'annotations').tail = [
      '{{- if .Values.crd.keep }}',
      'helm.sh/resource-policy: keep',
      '{{- end }}',
    ]
  } else if (isNamespace(entry)) {
    conditions.push('.Values.namespace.create')
    namespaceOf(root)
  } else if (object.kind === 'ServiceAccount' && object.metadata.name === placeholders.serviceAccount) {
    conditions.push('.Values.serviceAccount.create')
    addPairs(mapAt(root, 'metadata'), 'annotations', '.Values.serviceAccount.annotations')
  } else if (/^config\/rbac\/.*_(admin|editor|viewer)_role\.yaml$/.test(entry.file)) {
    conditions.push('.Values.rbac.helpers.enabled')
  } else if (object.kind === 'ServiceMonitor') serviceMonitor(root)
  else if (object.kind === 'PrometheusRule') addPairs(mapAt(root, 'metadata'), 'labels', '.Values.metrics.rules.labels')
  const condition = allOf(conditions)
  const body = `---\n${templateText(root, (yaml) => withExpressions(yaml, name))}\n`
  const text = condition === undefined ? body : `{{- if ${condition} }}\n${body}{{- end }}\n`
  return `${head.map((line) => `${line}\n`).join('')}${text}`.replaceAll('$chart', name)
}

/** The template of the Deployment of the operator. Returns the lines before it. */
function manager(root: MapNode, chart: ChartContent): string[] {
  const spec = mapAt(root, 'spec')
  spec.fields.set('replicas', code('{{ .Values.manager.replicas }}'))
  const meta = mapAt(spec, 'template', 'metadata')
  addPairs(meta, 'annotations', '.Values.manager.podAnnotations')
  addPairs(meta, 'labels', '.Values.manager.podLabels')
  const pod = mapAt(spec, 'template', 'spec')
  for (const field of podFields) pod.fields.delete(field)
  pod.fields.delete('priorityClassName')
  pod.fields.set('securityContext', block('{{- toYaml .Values.manager.podSecurityContext | nindent $indent }}'))
  pod.tail = [
    ...podFields.flatMap((field) => [
      `{{- with .Values.manager.${field} }}`,
      `${field}:`,
      '  {{- toYaml . | nindent $child }}',
      '{{- end }}',
    ]),
    '{{- with .Values.manager.priorityClassName }}',
    'priorityClassName: {{ . | quote }}',
    '{{- end }}',
  ]
  const items = listAt(pod, 'containers')!.items
  const index = items.findIndex(({ node }) => nameIn(node) === 'manager')
  const container = expanded(items[index]!.node) as MapNode
  items[index] = { ...items[index]!, node: container }
  container.fields.set('image', code('{{ include "$chart.image" . | quote }}'))
  container.fields.set('imagePullPolicy', code('{{ .Values.manager.image.pullPolicy }}'))
  container.fields.set('resources', block('{{- toYaml .Values.manager.resources | nindent $indent }}'))
  container.fields.set('securityContext', block('{{- toYaml .Values.manager.securityContext | nindent $indent }}'))
  if (!container.fields.has('args')) container.fields.set('args', { node: { type: 'list', items: [] } })
  listAt(container, 'args')!.tail = ['{{- range .Values.manager.args }}', '- {{ . | quote }}', '{{- end }}']
  environment(container, chart.hasWebhooks)
  return ['{{- $env := list }}', '{{- range .Values.manager.env }}', '{{- $env = append $env .name }}', '{{- end }}']
}

/** The environment of the container: the variables of config/ that values do not replace, then those of the values. */
function environment(container: MapNode, hasWebhooks: boolean): void {
  const known = listAt(container, 'env')
  const items: TemplateField[] = (known?.items ?? []).map(({ node, condition }) => {
    const isKept = `not (has ${JSON.stringify(nameIn(node))} $env)`
    return { node, condition: allOf([...(condition === undefined ? [] : [condition]), isKept]) }
  })
  const off = { name: 'ENABLE_WEBHOOKS', value: 'false' }
  const isOff = 'not .Values.webhook.enabled'
  if (hasWebhooks) items.push({ node: { type: 'plain', value: off }, condition: isOff })
  const needed = ['.Values.manager.env', ...(hasWebhooks ? [`(${isOff})`] : [])]
  const tail = ['{{- with .Values.manager.env }}', '{{- toYaml . | nindent $indent }}', '{{- end }}']
  const { condition } = container.fields.get('env') ?? {}
  // An empty list would be rendered as null.
  const isEmpty = known === undefined || known.items.length === 0
  container.fields.set('env', {
    node: { type: 'list', items, tail },
    condition: isEmpty ? (needed.length > 1 ? `or ${needed.join(' ')}` : needed[0]) : condition,
  })
}

function namespaceOf(root: MapNode): void {
  const metadata = mapAt(root, 'metadata')
  const labels = mapAt(metadata, 'labels')
  for (const label of [...labels.fields.keys()]) if (!isOwnLabel(label)) labels.fields.delete(label)
  addPairs(metadata, 'labels', '.Values.namespace.labels')
  addPairs(metadata, 'annotations', '.Values.namespace.annotations')
}

function serviceMonitor(root: MapNode): void {
  addPairs(mapAt(root, 'metadata'), 'labels', '.Values.metrics.serviceMonitor.labels')
  const endpoint = listAt(mapAt(root, 'spec'), 'endpoints')?.items[0]
  const node = endpoint === undefined ? undefined : expanded(endpoint.node)
  if (endpoint === undefined || node?.type !== 'map') return
  endpoint.node = node
  node.tail = ['{{- with .Values.metrics.serviceMonitor.interval }}', 'interval: {{ . | quote }}', '{{- end }}']
  const own = node.fields.get('tlsConfig')
  if (own === undefined) return
  const given = '.Values.metrics.serviceMonitor.tlsConfig'
  const ifTrue = { type: 'block', text: `{{- toYaml ${given} | nindent $indent }}` } as const
  node.fields.set('tlsConfig', { ...own, node: { type: 'choice', condition: given, ifTrue, ifFalse: own.node } })
}

/** Adds the pairs of a value to labels or annotations, except those that the object has already. */
function addPairs(parent: MapNode, field: string, value: string): void {
  const known = parent.fields.get(field)
  const node = known === undefined ? undefined : expanded(known.node)
  if (node?.type !== 'map' || node.fields.size === 0) {
    parent.fields.delete(field)
    const lines = [`{{- with ${value} }}`, `${field}:`, '  {{- toYaml . | nindent $child }}', '{{- end }}']
    parent.tail = [...(parent.tail ?? []), ...lines]
    return
  }
  const keys = [...node.fields.keys()].map((key) => JSON.stringify(key)).join(' ')
  node.tail = [`{{- with omit ${value} ${keys} }}`, '{{- toYaml . | nindent $indent }}', '{{- end }}']
  parent.fields.set(field, { ...known, node })
}

function nameIn(node: TemplateNode): string {
  const of = expanded(node)
  const name = of.type === 'map' ? of.fields.get('name')?.node : undefined
  return name?.type === 'plain' ? String(name.value) : ''
}

const code = (text: string): TemplateField => ({ node: { type: 'code', text } })
const block = (text: string): TemplateField => ({ node: { type: 'block', text } })

/** Turns YAML into a template: escapes braces, and replaces placeholders by expressions. */
function withExpressions(yaml: string, name: string): string {
  const expressions: Readonly<Record<string, string>> = {
    [placeholders.namespace]: `{{ include "${name}.namespace" . }}`,
    [placeholders.serviceAccount]: `{{ include "${name}.serviceAccount" . }}`,
    [placeholders.secret]: '{{ .Values.webhook.certificates.secretName }}',
    [placeholders.caBundle]: '{{ .Values.webhook.certificates.caBundle }}',
  }
  let text = yaml.replaceAll('{{', '{{ "{{" }}')
  for (const [placeholder, expression] of Object.entries(expressions)) {
    // A whole scalar is quoted: YAML would parse a name such as 123 as a number.
    const scalar = new RegExp(`^(\\s*(?:- )?(?:[\\w-]+: |- ))${placeholder}$`, 'gm')
    text = text.replaceAll(scalar, (_, before: string) => `${before}${expression.replace(' }}', ' | quote }}')}`)
    text = text.replaceAll(placeholder, expression)
  }
  return text.replaceAll(/(app\.kubernetes\.io\/managed-by): kubewright$/gm, '$1: {{ .Release.Service }}')
}

function helpers(name: string, { serviceAccount, hasWebhooks }: ChartContent): string {
  const define = (helper: string, body: string): string => `{{- define "${name}.${helper}" -}}\n${body}\n{{- end }}\n`
  const certificates = '{{- if .Values.webhook.enabled }}{{ .Values.webhook.certificates.mode }}{{ else }}none{{ end }}'
  return [
    define('namespace', '{{- .Values.namespace.name | default .Release.Namespace }}'),
    define('serviceAccount', `{{- .Values.serviceAccount.name | default "${serviceAccount}" }}`),
    define(
      'image',
      '{{- with .Values.manager.image }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}{{ end }}',
    ),
    ...(hasWebhooks ? [define('certificates', certificates)] : []),
  ].join('\n')
}

function notes(name: string, { entries, manager, hasWebhooks }: ChartContent): string {
  const kinds = entries.flatMap(({ object: { kind, spec } }) => {
    const plural =
      kind === 'CustomResourceDefinition' &&
      isJsonObject(spec) &&
      isJsonObject(spec['names']) &&
      spec['names']['plural']
    return typeof plural === 'string' ? [plural] : []
  })
  const namespace = `{{ include "${name}.namespace" . }}`
  return [
    `${name} {{ .Chart.AppVersion }} is installed in the namespace ${namespace}.`,
    '',
    'Wait until it is ready:',
    `  kubectl -n ${namespace} rollout status deployment/${manager.metadata.name}`,
    ...(kinds.length === 0 ? [] : ['', 'Describe its resources:', ...kinds.map((kind) => `  kubectl explain ${kind}`)]),
    '{{- if not .Values.crd.enabled }}',
    '',
    'The chart did not install the CRDs: install them before the operator starts.',
    '{{- end }}',
    '{{- if .Values.crd.keep }}',
    '',
    'helm uninstall keeps the CRDs and their objects. To delete them too, set crd.keep=false before.',
    '{{- end }}',
    ...(hasWebhooks
      ? [
          '{{- if not .Values.webhook.enabled }}',
          '',
          'The webhooks are off: objects are neither defaulted nor validated nor converted by the operator.',
          '{{- end }}',
        ]
      : []),
    '',
  ].join('\n')
}
