import { isInvalid, isNotFound } from '@kubewright/api'
import type { ObjectAccess } from '../registry/object-access.ts'
import type { MutableObject } from '../resource/object.ts'
import type { SystemWriter } from '../verbs/write/system-writer.ts'

const name = 'kubernetes'
const namespace = 'default'

/** The address of the server. */
export interface ServerAddress {
  readonly address: string
  readonly port: number
}

/** Creates the service through which pods reach the API server, unless it exists. The endpoints follow when the server listens. */
export async function ensureKubernetesService(
  writer: SystemWriter,
  targetPort: number,
  clusterIp: string,
  isShared = false,
): Promise<void> {
  const service: MutableObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort }],
      clusterIP: clusterIp,
      clusterIPs: [clusterIp],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
    },
    status: { loadBalancer: {} },
  }
  try {
    await writer.ensure('services', service)
  } catch (error) {
    // Another server on the store, which starts at the same time, has the address already. If it dies before it creates the service, the
    // presence of the next server does.
    if (!isInvalid(error) || !isShared) throw error
  }
}

/** The parts of the server that {@link publishServerAddresses} uses. */
export interface PublishParts extends ObjectAccess {
  readonly writer: SystemWriter
}

/**
 * Sets the endpoints of the service to the addresses of all servers. Writes nothing if they are unchanged. Usually all servers have the same
 * port; there is a subset and an EndpointSlice for each port and address family otherwise.
 */
export async function publishServerAddresses(parts: PublishParts, servers: readonly ServerAddress[]): Promise<void> {
  const { writer } = parts
  const groups = groupsOf(servers)
  const endpoints = {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name, namespace, labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    subsets: groups.map(({ addresses, port }) => ({
      addresses: addresses.map((ip) => ({ ip })),
      ports: [{ name: 'https', port, protocol: 'TCP' }],
    })),
  }
  await writer.put('endpoints', endpoints, ['subsets'])
  // Without a server, the slice of the service stays and is empty.
  const slices = groups.length > 0 ? groups : [{ name, addressType: 'IPv4', addresses: [], port: undefined }]
  for (const slice of slices) {
    await deleteSlices(parts, (found, type) => found === slice.name && type !== slice.addressType)
    const { addresses, addressType, port } = slice
    const object = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name: slice.name, namespace, labels: { 'kubernetes.io/service-name': name } },
      addressType,
      endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
      ports: port === undefined ? [] : [{ name: 'https', port, protocol: 'TCP' }],
    }
    await writer.put('endpointslices', object, ['endpoints', 'ports'])
  }
  const names = new Set(slices.map((slice) => slice.name))
  await deleteSlices(parts, (found) => /^kubernetes-(ipv6-)?\d+$/.test(found) && !names.has(found))
}

interface AddressGroup {
  /** The name of the EndpointSlice. */
  readonly name: string
  readonly addressType: 'IPv4' | 'IPv6'
  readonly addresses: readonly string[]
  readonly port: number
}

/** The addresses by family and port, sorted. The first group has the name of the service. */
function groupsOf(servers: readonly ServerAddress[]): AddressGroup[] {
  const byKey = new Map<string, { port: number; addressType: 'IPv4' | 'IPv6'; addresses: Set<string> }>()
  const sorted = [...servers].sort((a, b) => a.port - b.port || (a.address < b.address ? -1 : 1))
  for (const { address, port } of sorted) {
    const addressType = address.includes(':') ? 'IPv6' : 'IPv4'
    const group = byKey.get(`${addressType} ${port}`) ?? { port, addressType, addresses: new Set() }
    byKey.set(`${addressType} ${port}`, group)
    group.addresses.add(address)
  }
  return [...byKey.values()].map(({ port, addressType, addresses }, i) => {
    const suffix = addressType === 'IPv6' ? `ipv6-${port}` : String(port)
    return { name: i === 0 ? name : `${name}-${suffix}`, addressType, port, addresses: [...addresses] }
  })
}

async function deleteSlices(
  { resources, registry, writer }: PublishParts,
  isStale: (name: string, addressType: unknown) => boolean,
): Promise<void> {
  const resource = resources.find('discovery.k8s.io', 'v1', 'endpointslices')
  if (!resource) return
  const cache = await registry.feed.cache(resource.storage.prefix)
  for (const { object } of cache.list(registry.prefixOf(resource, namespace))) {
    if (!isStale(object.metadata.name ?? '', object['addressType'])) continue
    await writer.delete({ resource, namespace, name: object.metadata.name ?? '' }).catch((error: unknown) => {
      // Another server was faster.
      if (!isNotFound(error)) throw error
    })
  }
}
