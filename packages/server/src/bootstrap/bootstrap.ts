import { parseGroupVersion } from '@kubewright/api'
import { type Clock, formatRFC3339, instantFromMillis, type Logger } from '@kubewright/base'
import { type FrontProxyIdentity, requestHeaderConfig } from '../aggregation/front-proxy.ts'
import { aggregatorGroup, localApiService } from '../aggregation/local-api-service.ts'
import { defaultClusterIpRange, kubernetesAddress } from '../builtins/core/service/service-allocator.ts'
import type { MutableObject } from '../resource/object.ts'
import type { ResourceTable } from '../resource/resource-table.ts'
import type { SystemWriter } from '../verbs/write/system-writer.ts'
import { flowSchemaObjects, priorityLevelObjects } from './flow-control-objects.ts'
import { ensureKubernetesService } from './kubernetes-service.ts'
import { priorityClassObjects } from './priority-classes.ts'
import { type SeedRegistry, seedObjects } from './seed-objects.ts'
import { ensureServiceCidr } from './service-cidr.ts'
import { namespaceObject, systemNamespaces } from './system-namespaces.ts'

/** The parts of the server that {@link bootstrap} uses. */
export interface BootstrapParts {
  readonly resources: ResourceTable
  readonly writer: SystemWriter
  /** Without it, the write pipeline creates all objects. */
  readonly registry?: SeedRegistry | undefined
  readonly clock: Clock
  readonly log: Logger
}

/** Options of {@link bootstrap}. */
export interface BootstrapOptions {
  /** PEM of the trusted client CAs, published for extension servers. */
  readonly clientCa?: string | undefined
  /** The front proxy identity of the server; its CA is published for extension servers. */
  readonly frontProxy?: FrontProxyIdentity | undefined
  /** The port of the server, for the service `kubernetes`. @default 6443 */
  readonly port?: number | undefined
  /** The range of cluster IPs; its first address is that of the service `kubernetes`. @default '10.0.0.0/24' */
  readonly clusterIpRange?: string | undefined
}

/**
 * Creates the objects of every cluster, except for RBAC. Idempotent, and safe with several servers on one store. All writes run
 * concurrently, so that a durable store commits them together.
 */
export async function bootstrap(parts: BootstrapParts, options: BootstrapOptions = {}): Promise<void> {
  const now = parts.clock.now()
  const ensure = async (plural: string, objects: readonly MutableObject[]): Promise<void> => {
    const seeded = await seed(parts, plural, objects)
    await Promise.all(
      objects
        .filter(({ metadata }) => !seeded.has(metadata.name!))
        .map((object) => attempt(plural, object.metadata.name!, () => parts.writer.ensure(plural, object))),
    )
  }
  const failures = new Map<string, { readonly error: unknown; readonly objects: string[] }>()
  // An object that cannot be created must not prevent the server from starting.
  const attempt = (plural: string, name: string, work: () => Promise<unknown>): Promise<unknown> =>
    work().catch((error: unknown) => {
      const known = failures.get(String(error)) ?? { error, objects: [] }
      known.objects.push(`${plural} ${name}`)
      failures.set(String(error), known)
    })
  const groupVersions = parts.resources.groupVersions().filter(({ group }) => group !== aggregatorGroup)
  await Promise.all([
    ensure('namespaces', systemNamespaces.map(namespaceObject)),
    ensure('priorityclasses', priorityClassObjects()),
    ensure('prioritylevelconfigurations', priorityLevelObjects()),
    ensure('flowschemas', flowSchemaObjects(now)),
    ensure(
      'apiservices',
      groupVersions.map(({ group, version }) => localApiService(group, version, 'onstart', now)),
    ),
    ensure('configmaps', [tokenTracking(now)]),
    ...trust(options).map((object) =>
      // Publishes the certificates at every start, because they may have been renewed and extension servers verify clients with them.
      attempt('configmaps', object.metadata.name!, () => parts.writer.put('configmaps', object, ['data'])),
    ),
    attempt('servicecidrs', 'kubernetes', () =>
      ensureServiceCidr(parts, options.clusterIpRange ?? defaultClusterIpRange, now),
    ),
    attempt('services', 'kubernetes', () =>
      ensureKubernetesService(
        parts.writer,
        options.port ?? 6443,
        kubernetesAddress(options.clusterIpRange),
        parts.registry?.store.shared,
      ),
    ),
  ])
  // Logs an error that many objects share, such as a full disk, once.
  for (const { error, objects } of failures.values()) {
    const others = objects.length - 1
    parts.log.error(error, `Cannot create ${objects[0]}${others === 0 ? '' : ` and ${others} other objects`}`)
  }
}

/** Creates cluster-scoped objects from the image, as far as it has them. Returns their names. */
async function seed(
  { resources, registry }: BootstrapParts,
  plural: string,
  objects: readonly MutableObject[],
): Promise<ReadonlySet<string>> {
  const { group, version } = parseGroupVersion(objects[0]?.apiVersion ?? '')
  const resource = resources.find(group, version, plural)
  if (!registry || resource?.kind.scope !== 'Cluster') return new Set()
  return seedObjects(
    registry,
    resource,
    objects.map(({ metadata }) => metadata.name!),
  )
}

/** The ConfigMap from which extension servers learn the client CA and the front proxy. */
function trust({ clientCa, frontProxy }: BootstrapOptions): MutableObject[] {
  if (clientCa === undefined && !frontProxy) return []
  const data = {
    ...(clientCa === undefined ? {} : { 'client-ca-file': clientCa }),
    ...(frontProxy ? requestHeaderConfig(frontProxy) : {}),
  }
  return [configMap('extension-apiserver-authentication', data)]
}

/** The ConfigMap with the date since which the use of secret-based tokens is tracked. */
function tokenTracking(now: number): MutableObject {
  const since = formatRFC3339(instantFromMillis(now)).slice(0, 10)
  return configMap('kube-apiserver-legacy-service-account-token-tracking', { since })
}

function configMap(name: string, data: Record<string, string>): MutableObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'kube-system' }, data }
}
