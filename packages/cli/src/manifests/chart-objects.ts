import { parseYaml } from '@kubewright/api'
import { deepCopy, isJsonObject } from '@kubewright/base'
import type { TextSource } from '../kustomize/kustomization.ts'
import type { ConfigObject } from './config-build.ts'
import { buildChoice, type ConfigChoice, managerOf, podSpecOf } from './config-variants.ts'
import { certificateSecret } from './manager-objects.ts'
import type { Manifest } from './manifest.ts'
import { mergePresence, type TemplateNode, type ValueCondition } from './template-tree.ts'

/** Texts in the objects of a chart that stand for template expressions. */
export const placeholders = {
  namespace: 'kubewright-release-namespace',
  serviceAccount: 'kubewright-service-account',
  secret: 'kubewright-certificate-secret',
  caBundle: 'kubewright-ca-bundle',
} as const

/** An object of a chart. */
export interface ChartObject {
  /** The object with all optional parts, from which defaults of values are read. */
  readonly object: Manifest
  /** The file of config/ that contains it. */
  readonly file: string
  readonly node: TemplateNode
  /** The condition on the values under which it exists. */
  readonly condition: string | undefined
}

/** The objects of a chart, and the facts about config/ that its values depend on. */
export interface ChartContent {
  readonly entries: readonly ChartObject[]
  /** The plain objects of all variants. */
  readonly objects: readonly Manifest[]
  readonly manager: Manifest
  readonly serviceAccount: string
  readonly hasWebhooks: boolean
  /** The optional parts that config/default includes. */
  readonly chosen: { readonly certManager: boolean; readonly prometheus: boolean; readonly networkPolicy: boolean }
}

const certificates = '(include "$chart.certificates" .)'
/** The expression for a kind of certificates. `$chart` stands for the name of the chart. */
const certificatesAre = (mode: ConfigChoice['certificates']): ValueCondition => ({
  is: `eq ${certificates} "${mode}"`,
  not: `ne ${certificates} "${mode}"`,
})
const unless = (value: string): ValueCondition => ({ is: `not ${value}`, not: value })
const monitored = 'or .Values.metrics.serviceMonitor.enabled .Values.metrics.rules.enabled'

const whole: ConfigChoice = {
  webhooks: true,
  metrics: true,
  prometheus: true,
  networkPolicy: true,
  certificates: 'self-managed',
}

/**
 * The objects of config/default as the user left it, with all variants that the values of a chart can select. config/ is built once for
 * each choice that differs from the whole, and the results are merged into templates.
 */
export function chartObjects(config: TextSource): ChartContent {
  const build = (choice: Partial<ConfigChoice>): ConfigObject[] =>
    buildChoice(config, { ...whole, ...choice }, placeholders.namespace)
  const plain = build({})
  const hasWebhooks = plain.some(({ object }) => isWebhookConfiguration(object) || isConverted(object))
  const manager = managerOf(plain)
  const { serviceAccountName } = podSpecOf(manager.object)
  const serviceAccount = typeof serviceAccountName === 'string' ? serviceAccountName : 'default'
  const fromNamespace = namespaceOf(config)
  const prepare = (built: readonly ConfigObject[], isGiven = false): Map<string, ConfigObject> =>
    new Map(
      built.map(({ object, file }) => {
        const prepared = isGiven ? withGivenCertificate(object) : object
        return [idOf(object), { object: withPlaceholders(prepared, fromNamespace, serviceAccount), file }]
      }),
    )
  const base = prepare(plain)
  const variants: { condition: ValueCondition; objects: Map<string, ConfigObject> }[] = [
    { condition: unless('.Values.metrics.enabled'), objects: prepare(build({ metrics: false })) },
    { condition: { is: `not (${monitored})`, not: monitored }, objects: prepare(build({ prometheus: false })) },
    { condition: unless('.Values.networkPolicy.enabled'), objects: prepare(build({ networkPolicy: false })) },
  ]
  if (hasWebhooks) {
    variants.push(
      { condition: unless('.Values.webhook.enabled'), objects: prepare(build({ webhooks: false })) },
      { condition: certificatesAre('cert-manager'), objects: prepare(build({ certificates: 'cert-manager' })) },
      { condition: certificatesAre('given'), objects: prepare(build({ certificates: 'given' }), true) },
    )
  }
  const ids = new Set([base, ...variants.map(({ objects }) => objects)].flatMap((objects) => [...objects.keys()]))
  const entries = [...ids].map((id): ChartObject => {
    const own = base.get(id) ?? variants.map(({ objects }) => objects.get(id)).find((found) => found !== undefined)!
    const { node, condition } = mergePresence(
      base.get(id)?.object,
      variants.map((variant) => ({ condition: variant.condition, value: variant.objects.get(id)?.object })),
    )
    return { ...own, node, condition: simpler(condition, own.object.kind) }
  })
  const { components } = defaultKustomization(config)
  const has = (path: string): boolean => Array.isArray(components) && components.includes(path)
  return {
    entries,
    objects: [
      ...new Set([base, ...variants.map(({ objects }) => objects)].flatMap((objects) => [...objects.values()])),
    ].map(({ object }) => object),
    manager: base.get(idOf(manager.object))!.object,
    serviceAccount,
    hasWebhooks,
    chosen: {
      certManager: has('../certmanager'),
      prometheus: has('../prometheus'),
      networkPolicy: has('../network-policy'),
    },
  }
}

/** Shortens a condition: certificates that neither cert-manager nor the user provides, and the values of one kind of monitoring. */
function simpler(condition: string | undefined, kind: string): string | undefined {
  const { not: notIssued } = certificatesAre('cert-manager')
  const { not: notGiven } = certificatesAre('given')
  const own = `(${notIssued}) (${notGiven})`
  const short = condition
    ?.replace(`and .Values.webhook.enabled ${own}`, certificatesAre('self-managed').is)
    .replace(`and ${own}`, certificatesAre('self-managed').is)
  const part = kind === 'PrometheusRule' ? 'rules' : /Monitor$/.test(kind) ? 'serviceMonitor' : undefined
  if (part === undefined) return short
  const enabled = `.Values.metrics.${part}.enabled`
  return short?.replace(`(${monitored})`, enabled).replace(monitored, enabled)
}

const idOf = ({ apiVersion, kind, metadata: { namespace = '', name } }: Manifest): string =>
  `${apiVersion} ${kind} ${namespace}/${name}`

const isWebhookConfiguration = ({ kind }: Manifest): boolean => /WebhookConfiguration$/.test(kind)

function isConverted({ kind, spec }: Manifest): boolean {
  const conversion = isJsonObject(spec) ? spec['conversion'] : undefined
  return kind === 'CustomResourceDefinition' && isJsonObject(conversion) && conversion['strategy'] === 'Webhook'
}

function defaultKustomization(config: TextSource): Readonly<Record<string, unknown>> {
  const fields = parseYaml(config.get('config/default/kustomization.yaml') ?? '')
  return isJsonObject(fields) ? fields : {}
}

/** The namespace of config/default, which some texts of config/ contain in host names. */
function namespaceOf(config: TextSource): string {
  const { namespace } = defaultKustomization(config)
  return typeof namespace === 'string' ? namespace : ''
}

/** Replaces the namespace and the service account of the operator by placeholders. */
function withPlaceholders(object: Manifest, namespace: string, account: string): Manifest {
  const pattern = namespace === '' ? undefined : new RegExp(`^${namespace}(?=/)|(?<=\\.)${namespace}(?=\\.svc\\b)`, 'g')
  const visit = (value: unknown, key: string, parent: Readonly<Record<string, unknown>>): unknown => {
    if (Array.isArray(value)) return value.map((item) => visit(item, key, parent))
    if (isJsonObject(value)) {
      return Object.fromEntries(Object.entries(value).map(([field, inner]) => [field, visit(inner, field, value)]))
    }
    if (typeof value !== 'string') return value
    const isNamespace = key === 'namespace' || parent['key'] === 'kubernetes.io/metadata.name'
    if (isNamespace && value === namespace) return placeholders.namespace
    const isAccount = key === 'serviceAccountName' || (key === 'name' && parent['kind'] === 'ServiceAccount')
    if (isAccount && value === account) return placeholders.serviceAccount
    return pattern === undefined ? value : value.replaceAll(pattern, placeholders.namespace)
  }
  const visited = visit(object, '', {}) as Manifest
  if (object.kind !== 'ServiceAccount' || object.metadata.name !== account) return visited
  return { ...visited, metadata: { ...visited.metadata, name: placeholders.serviceAccount } }
}

/** Uses the Secret and the CA of the values instead of those of cert-manager. */
function withGivenCertificate(object: Manifest): Manifest {
  const copy = deepCopy(object) as Record<string, unknown>
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item)
    if (!isJsonObject(value)) return
    const fields = value as Record<string, unknown>
    if (fields['secretName'] === certificateSecret) fields['secretName'] = placeholders.secret
    const { clientConfig } = fields
    if (isJsonObject(clientConfig) && isJsonObject(clientConfig['service'])) {
      fields['clientConfig'] = { ...clientConfig, caBundle: placeholders.caBundle }
    }
    for (const [key, inner] of Object.entries(fields)) if (key !== 'openAPIV3Schema') visit(inner)
  }
  visit(copy)
  return copy as unknown as Manifest
}
