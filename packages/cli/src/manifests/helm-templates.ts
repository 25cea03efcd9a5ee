import {
  certificateArgs,
  certificateMount,
  certificateVolume,
  metricsArgs,
  webhookContainerPort,
} from './manager-objects.ts'
import { type Manifest, yamlOf } from './manifest.ts'
import type { ObjectContext } from './object-context.ts'
import { hasWebhooks, type OperatorDescription, ownNamespace } from './operator-description.ts'

/** The placeholder for the namespace of a release, which {@link asTemplate} replaces. */
export const releaseNamespace = 'kubewright-release-namespace'

/** A template with objects, rendered only if a condition on the values holds. */
export function template(condition: string | undefined, ...objects: readonly Manifest[]): string {
  const text = asTemplate(yamlOf(...objects))
  return condition === undefined ? text : `{{- if ${condition} }}\n${text}{{- end }}\n`
}

/** A template with one of two objects, depending on a condition on the values. */
export function choice(condition: string, object: Manifest, otherwise: Manifest): string {
  return `{{- if ${condition} }}\n${template(undefined, object)}{{- else }}\n${template(undefined, otherwise)}{{- end }}\n`
}

/** Turns a text into a template: escapes braces, and replaces placeholders by template expressions. */
export function asTemplate(text: string): string {
  return text
    .replaceAll('{{', '{{ "{{" }}')
    .replaceAll(releaseNamespace, '{{ .Release.Namespace }}')
    .replaceAll('app.kubernetes.io/managed-by: kubewright', 'app.kubernetes.io/managed-by: {{ .Release.Service }}')
}

/** The annotation with which cert-manager injects its CA. */
export function injectionLine({ operator }: ObjectContext): string {
  return `cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/${operator.name}-serving-cert`
}

/** The template of a CRD. It stays when the release is uninstalled, unless the values disable that. */
export function definitionTemplate(
  context: ObjectContext,
  definition: Manifest,
  conversion: object | undefined,
): string {
  let text = asTemplate(yamlOf(definition))
  const annotations = ['    {{- if .Values.crd.keep }}', '    helm.sh/resource-policy: keep', '    {{- end }}']
  if (conversion !== undefined) {
    annotations.push(
      '    {{- if and .Values.webhook.enabled .Values.certManager.enabled }}',
      `    ${injectionLine(context)}`,
      '    {{- end }}',
    )
    const block = asTemplate(indented(yamlOf({ conversion }), '  '))
    text = text.replace('\nspec:\n', () => `\nspec:\n  {{- if .Values.webhook.enabled }}\n${block}  {{- end }}\n`)
  }
  text = text.replace('\n  annotations:\n', () => `\n  annotations:\n${annotations.join('\n')}\n`)
  return `{{- if .Values.crd.enabled }}\n${text}{{- end }}\n`
}

/** The template of webhook configurations, with the annotation for cert-manager if the values enable it. */
export function webhookTemplate(context: ObjectContext, configurations: readonly Manifest[]): string {
  const annotations = [
    '  {{- if .Values.certManager.enabled }}',
    '  annotations:',
    `    ${injectionLine(context)}`,
    '  {{- end }}',
  ].join('\n')
  const text = asTemplate(yamlOf(...configurations)).replaceAll('\nmetadata:\n', () => `\nmetadata:\n${annotations}\n`)
  return `{{- if .Values.webhook.enabled }}\n${text}{{- end }}\n`
}

/** The template of the Deployment, with values for the fields that users commonly change. */
export function managerTemplate(context: ObjectContext): string {
  const { operator } = context
  const { name } = operator
  const webhooks = hasWebhooks(operator)
  const item = (value: object, indent: string): string => listItem(value, indent)
  const mounted = 'if and .Values.webhook.enabled .Values.certManager.enabled'
  const lines = [
    'apiVersion: apps/v1',
    'kind: Deployment',
    'metadata:',
    '  labels:',
    '    app.kubernetes.io/managed-by: {{ .Release.Service }}',
    `    app.kubernetes.io/name: ${name}`,
    '    control-plane: controller-manager',
    `  name: ${name}-controller-manager`,
    '  namespace: {{ .Release.Namespace }}',
    'spec:',
    '  replicas: {{ .Values.manager.replicas }}',
    '  selector:',
    '    matchLabels:',
    `      app.kubernetes.io/name: ${name}`,
    '      control-plane: controller-manager',
    '  template:',
    '    metadata:',
    '      annotations:',
    '        kubectl.kubernetes.io/default-container: manager',
    ...optional('manager.podAnnotations', 8),
    '      labels:',
    `        app.kubernetes.io/name: ${name}`,
    '        control-plane: controller-manager',
    ...optional('manager.podLabels', 8),
    '    spec:',
    ...optionalField('imagePullSecrets', 6),
    ...optionalField('nodeSelector', 6),
    ...optionalField('tolerations', 6),
    ...optionalField('affinity', 6),
    '      containers:',
    '      - args:',
    '        {{- if .Values.metrics.enabled }}',
    ...metricsArgs.map((arg) => `        - ${arg}`),
    '        {{- end }}',
    ...(operator.leaderElection ? ['        - --leader-elect'] : []),
    '        - --health-probe-bind-address=:8081',
    ...(webhooks
      ? [`        {{- ${mounted} }}`, ...certificateArgs.map((arg) => `        - ${arg}`), '        {{- end }}']
      : []),
    '        {{- range .Values.manager.args }}',
    '        - {{ . | quote }}',
    '        {{- end }}',
    ...environment(operator),
    '        image: "{{ .Values.manager.image.repository }}:{{ .Values.manager.image.tag | default .Chart.AppVersion }}"',
    '        imagePullPolicy: {{ .Values.manager.image.pullPolicy }}',
    '        livenessProbe:',
    '          httpGet:',
    '            path: /healthz',
    '            port: 8081',
    '          initialDelaySeconds: 15',
    '          periodSeconds: 20',
    '        name: manager',
    ...(webhooks
      ? [
          '        {{- if .Values.webhook.enabled }}',
          '        ports:',
          ...item(webhookContainerPort, '        ').split('\n'),
          '        {{- end }}',
        ]
      : []),
    '        readinessProbe:',
    '          httpGet:',
    '            path: /readyz',
    '            port: 8081',
    '          initialDelaySeconds: 5',
    '          periodSeconds: 10',
    '        resources:',
    '          {{- toYaml .Values.manager.resources | nindent 10 }}',
    '        securityContext:',
    '          {{- toYaml .Values.manager.securityContext | nindent 10 }}',
    ...(webhooks
      ? [
          `        {{- ${mounted} }}`,
          '        volumeMounts:',
          ...item(certificateMount, '        ').split('\n'),
          '        {{- end }}',
        ]
      : []),
    '      securityContext:',
    '        {{- toYaml .Values.manager.podSecurityContext | nindent 8 }}',
    `      serviceAccountName: ${name}-controller-manager`,
    '      terminationGracePeriodSeconds: 40',
    ...(webhooks
      ? [
          `      {{- ${mounted} }}`,
          '      volumes:',
          ...item(certificateVolume, '      ').split('\n'),
          '      {{- end }}',
        ]
      : []),
    '',
  ]
  return lines.join('\n')
}

/** The environment of the container. The key `env` is rendered only if there are variables, because an empty one would be null. */
function environment(operator: OperatorDescription): string[] {
  const off = hasWebhooks(operator)
    ? [
        '        {{- if not .Values.webhook.enabled }}',
        '        - name: ENABLE_WEBHOOKS',
        '          value: "false"',
        '        {{- end }}',
      ]
    : []
  if (operator.namespaces.includes(ownNamespace)) {
    return [
      '        env:',
      '        - name: WATCH_NAMESPACE',
      '          valueFrom:',
      '            fieldRef:',
      '              fieldPath: metadata.namespace',
      ...off,
      ...optional('manager.env', 8),
    ]
  }
  const some = hasWebhooks(operator) ? 'or .Values.manager.env (not .Values.webhook.enabled)' : '.Values.manager.env'
  return [`        {{- if ${some} }}`, '        env:', ...off, ...optional('manager.env', 8), '        {{- end }}']
}

function optional(value: string, indent: number): string[] {
  const space = ' '.repeat(indent)
  return [`${space}{{- with .Values.${value} }}`, `${space}{{- toYaml . | nindent ${indent} }}`, `${space}{{- end }}`]
}

function optionalField(field: string, indent: number): string[] {
  const space = ' '.repeat(indent)
  return [
    `${space}{{- with .Values.manager.${field} }}`,
    `${space}${field}:`,
    `${space}  {{- toYaml . | nindent ${indent + 2} }}`,
    `${space}{{- end }}`,
  ]
}

function listItem(value: object, indent: string): string {
  return indented(yamlOf([value]), indent).trimEnd()
}

function indented(text: string, indent: string): string {
  return text.replaceAll(/^(?=.)/gm, indent)
}
