import { isJsonObject, KubewrightError } from '@kubewright/base'
import type { TextSource } from '../kustomize/kustomization.ts'
import { buildConfig, type ConfigEntry, type ConfigObject, type ConfigVariant } from './config-build.ts'

/** The parts of config/ that a variant can leave out. Entries of kustomizations are matched by their path. */
const parts = {
  webhooks: [
    /^config\/webhook$/,
    /^config\/default\/manager_webhook_patch\.yaml$/,
    /^config\/rbac\/webhook_/,
    /^config\/crd\/patches\/webhook_/,
    /^config\/network-policy\/allow-webhook-traffic\.yaml$/,
  ],
  metrics: [
    /^config\/default\/(manager_metrics_patch|metrics_service)\.yaml$/,
    /^config\/rbac\/metrics_/,
    /^config\/network-policy\/allow-metrics-traffic\.yaml$/,
  ],
  certManager: [/^config\/certmanager$/, /^config\/prometheus\/monitor_tls_patch\.yaml$/],
  issuing: [
    /^config\/certmanager\/(issuer|certificate-webhook|injection_patch)\.yaml$/,
    /^config\/prometheus\/monitor_tls_patch\.yaml$/,
  ],
  prometheus: [/^config\/prometheus$/],
  networkPolicy: [/^config\/network-policy$/],
} as const satisfies Record<string, readonly RegExp[]>

const included = (path: string): ConfigEntry => ({ folder: 'config/default', list: 'components', path })
const monitorPatch: ConfigEntry = {
  folder: 'config/prometheus',
  list: 'patches',
  path: 'monitor_tls_patch.yaml',
  target: { kind: 'ServiceMonitor' },
}

/** The choices among the optional parts of config/. */
export interface ConfigChoice {
  readonly webhooks: boolean
  readonly metrics: boolean
  readonly prometheus: boolean
  readonly networkPolicy: boolean
  /** Who issues the certificate of the webhooks; with `given`, it is mounted without objects of cert-manager. */
  readonly certificates: 'self-managed' | 'cert-manager' | 'given'
}

/** Builds config/default as the user left it, but with other optional parts. Components that do not exist are not added. */
export function buildChoice(texts: TextSource, choice: ConfigChoice, namespace?: string): ConfigObject[] {
  const { webhooks, metrics, prometheus, networkPolicy, certificates } = choice
  const isMounted = webhooks && certificates !== 'self-managed'
  const isIssued = isMounted && certificates === 'cert-manager'
  const hasMonitor = prometheus && metrics
  const exists = ({ folder, list, path }: ConfigEntry): boolean =>
    texts.get(list === 'components' ? `config/${path.slice(3)}/kustomization.yaml` : `${folder}/${path}`) !== undefined
  const variant: ConfigVariant = {
    namespace,
    without: [
      ...(webhooks ? [] : parts.webhooks),
      ...(metrics ? [] : parts.metrics),
      ...(isMounted ? (isIssued ? [] : parts.issuing) : parts.certManager),
      ...(hasMonitor ? [] : parts.prometheus),
      ...(networkPolicy ? [] : parts.networkPolicy),
    ],
    with: [
      ...(isMounted ? [included('../certmanager')] : []),
      ...(hasMonitor ? [included('../prometheus')] : []),
      ...(hasMonitor && isIssued ? [monitorPatch] : []),
      ...(networkPolicy ? [included('../network-policy')] : []),
    ].filter(exists),
  }
  return buildConfig(texts, variant)
}

/** The Deployment of the operator among the objects of config/: the one with a container named `manager`. */
export function managerOf(objects: readonly ConfigObject[]): ConfigObject {
  const deployments = objects.filter(({ object }) => object.kind === 'Deployment')
  const isManager = ({ object }: ConfigObject): boolean => managerContainer(object) !== undefined
  const found = deployments.find(isManager)
  if (found === undefined)
    throw new KubewrightError(
      'KW_MANIFEST',
      'config/default contains no Deployment with a container named manager: restore config/manager/manager.yaml with kubewright generate --force',
    )
  return found
}

/** The container of the operator in its Deployment. */
export function managerContainer(deployment: object): Readonly<Record<string, unknown>> | undefined {
  const { containers } = podSpecOf(deployment)
  return Array.isArray(containers) ? containers.filter(isJsonObject).find(({ name }) => name === 'manager') : undefined
}

/** The spec of the pods of a Deployment. */
export function podSpecOf(deployment: object): Readonly<Record<string, unknown>> {
  let at: unknown = deployment
  for (const field of ['spec', 'template', 'spec']) at = isJsonObject(at) ? at[field] : undefined
  return isJsonObject(at) ? at : {}
}
