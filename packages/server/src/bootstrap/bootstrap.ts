import { type Clock, formatRFC3339, instantFromMillis, type Logger } from '@kubewright/base'
import { type FrontProxyIdentity, requestHeaderConfig } from '../aggregation/front-proxy.ts'
import { aggregatorGroup, localApiService } from '../aggregation/local-api-service.ts'
import type { MutableObject } from '../resource/object.ts'
import type { ResourceTable } from '../resource/resource-table.ts'
import type { SystemWriter } from '../verbs/system-writer.ts'
import { flowSchemaObjects, priorityLevelObjects } from './flow-control-objects.ts'
import { ensureKubernetesService } from './kubernetes-service.ts'
import { priorityClassObjects } from './priority-classes.ts'
import { namespaceObject, systemNamespaces } from './system-namespaces.ts'

/** The parts of the server that {@link bootstrap} uses. */
export interface BootstrapParts {
  readonly resources: ResourceTable
  readonly writer: SystemWriter
  readonly clock: Clock
  readonly log: Logger
}

/** Options of {@link bootstrap}. */
export interface BootstrapOptions {
  /** PEM of the CAs whose client certificates are trusted; others read them to trust the same clients. */
  readonly clientCa?: string
  /** How the server proves that it speaks for users; extension servers read what to believe. */
  readonly frontProxy?: FrontProxyIdentity | undefined
  /** The port of the server, for the service `kubernetes`. @default 6443 */
  readonly port?: number
}

/**
 * Gives a server the objects that every cluster has, apart from RBAC. Idempotent, and safe with several servers on one store. All writes
 * are under way at once, so that a durable store commits them together.
 */
export async function bootstrap(parts: BootstrapParts, options: BootstrapOptions = {}): Promise<void> {
  const now = parts.clock.now()
  const ensure = (plural: string, objects: readonly MutableObject[]): Promise<void>[] =>
    objects.map((object) => attempt(plural, object.metadata.name!, () => parts.writer.ensure(plural, object)))
  const failures = new Map<string, { readonly error: unknown; readonly objects: string[] }>()
  // One object that cannot be made must not keep the server from starting.
  const attempt = (plural: string, name: string, work: () => Promise<void>): Promise<void> =>
    work().catch((error: unknown) => {
      const known = failures.get(String(error)) ?? { error, objects: [] }
      known.objects.push(`${plural} ${name}`)
      failures.set(String(error), known)
    })
  const groupVersions = parts.resources.groupVersions().filter(({ group }) => group !== aggregatorGroup)
  await Promise.all([
    ...ensure('namespaces', systemNamespaces.map(namespaceObject)),
    ...ensure('priorityclasses', priorityClassObjects()),
    ...ensure('prioritylevelconfigurations', priorityLevelObjects()),
    ...ensure('flowschemas', flowSchemaObjects(now)),
    ...ensure(
      'apiservices',
      groupVersions.map(({ group, version }) => localApiService(group, version, 'onstart', now)),
    ),
    ...ensure('configmaps', [tokenTracking(now)]),
    ...trust(options).map((object) =>
      // Certificates are made anew, and extension servers have to learn of it.
      attempt('configmaps', object.metadata.name!, () => parts.writer.put('configmaps', object, ['data'])),
    ),
    attempt('services', 'kubernetes', () => ensureKubernetesService(parts.writer, options.port ?? 6443)),
  ])
  // What has one reason, as on a full disk, is told once.
  for (const { error, objects } of failures.values()) {
    const others = objects.length - 1
    parts.log.error(error, `Cannot create ${objects[0]}${others === 0 ? '' : ` and ${others} other objects`}`)
  }
}

/** What extension servers need to know to trust the same clients, and this server as a proxy. */
function trust({ clientCa, frontProxy }: BootstrapOptions): MutableObject[] {
  if (clientCa === undefined && !frontProxy) return []
  const data = {
    ...(clientCa === undefined ? {} : { 'client-ca-file': clientCa }),
    ...(frontProxy ? requestHeaderConfig(frontProxy) : {}),
  }
  return [configMap('extension-apiserver-authentication', data)]
}

/** From this day on tokens that are kept in secrets are watched for being used. */
function tokenTracking(now: number): MutableObject {
  const since = formatRFC3339(instantFromMillis(now)).slice(0, 10)
  return configMap('kube-apiserver-legacy-service-account-token-tracking', { since })
}

function configMap(name: string, data: Record<string, string>): MutableObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'kube-system' }, data }
}
