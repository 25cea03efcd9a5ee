import { isAlreadyExists, isNotFound } from '@kubewright/api'
import { KubewrightError, type Logger, parseIPSloppy } from '@kubewright/base'
import { serviceSpecOf } from '../builtins/core/service/service-types.ts'
import { anyChanged } from '../cache/any-changed.ts'
import type { ObjectAccess } from '../registry/object-access.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'
import type { SystemWriter } from '../verbs/write/system-writer.ts'

const group = 'networking.k8s.io'
const managedBy = 'ipaddress.kubernetes.io/managed-by'
const allocator = 'ipallocator.k8s.io'

/** The parts of the server that {@link keepServiceAddresses} uses. */
export interface ServiceAddressParts extends ObjectAccess {
  readonly writer: SystemWriter
  readonly log: Logger
}

interface Owner {
  readonly namespace: string
  readonly name: string
}

/**
 * Keeps an IPAddress for each cluster IP of each Service until disposed: creates missing ones, replaces those with the wrong parent,
 * and deletes those of Services that are gone. The Services decide; the IPAddresses show their allocations (pkg/registry/core/service/ipallocator
 * and its repair loop).
 */
export async function keepServiceAddresses(parts: ServiceAddressParts): Promise<AsyncDisposable> {
  const { registry, resources, writer, log } = parts
  const services = resources.find('', 'v1', 'services')
  const addresses = resources.find(group, 'v1', 'ipaddresses')
  if (!services || !addresses) return { [Symbol.asyncDispose]: async () => undefined }
  const stop = new AbortController()
  const [serviceCache, addressCache] = await Promise.all(
    [services, addresses].map(async ({ storage }) => registry.feed.cache(storage.prefix)),
  )
  if (!serviceCache || !addressCache)
    throw new KubewrightError('KW_SERVER_CONFIG', 'Cannot keep IPAddresses: their cache is missing')
  const round = async (): Promise<void> => {
    const wanted = new Map<string, Owner>()
    for (const { object } of serviceCache.list(serviceCache.prefix)) {
      for (const address of addressesOf(object as MutableObject)) wanted.set(address, ownerOf(object as MutableObject))
    }
    const wrong: string[] = []
    const present = new Set<string>()
    for (const { object } of addressCache.list(addressCache.prefix)) {
      const name = object.metadata.name ?? ''
      if (object.metadata.labels?.[managedBy] !== allocator) {
        present.add(name)
        continue
      }
      const owner = wanted.get(name)
      if (owner !== undefined && isParent(object as MutableObject, owner)) present.add(name)
      else if (owner !== undefined || !(await hasOwner(parts, services, object as MutableObject))) wrong.push(name)
    }
    for (const name of wrong) await unless(isNotFound, () => writer.delete({ resource: addresses, name }))
    for (const [name, owner] of wanted) {
      if (!present.has(name)) await unless(isAlreadyExists, () => writer.create(addresses, addressObject(name, owner)))
    }
  }
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      // Before the round, so that no change during it is missed.
      const changed = anyChanged([serviceCache, addressCache], stop.signal)
      try {
        await round()
      } catch (error) {
        if (!stop.signal.aborted) log.error(error, 'Failed to update the IPAddresses of Services')
      }
      await changed
    }
  }
  const running = run()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await running
    },
  }
}

/** The cluster IPs of a Service in canonical form. */
function addressesOf(service: MutableObject): string[] {
  const { clusterIP, clusterIPs = [] } = serviceSpecOf(service)
  const texts = clusterIPs.length > 0 ? clusterIPs : [clusterIP ?? '']
  return texts.flatMap((text) => parseIPSloppy(text)?.toString() ?? [])
}

const ownerOf = ({ metadata }: MutableObject): Owner => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
})

function parentOf(address: MutableObject): Partial<Owner & { readonly resource: string }> {
  const { parentRef } = (address['spec'] ?? {}) as { parentRef?: (Owner & { readonly resource: string }) | undefined }
  return parentRef ?? {}
}

function isParent(address: MutableObject, { name, namespace }: Owner): boolean {
  const parent = parentOf(address)
  return parent.resource === 'services' && parent.name === name && parent.namespace === namespace
}

/** Whether the stored parent has the address. The cache may lag behind the writes of other servers, and a deletion must not. */
async function hasOwner({ registry }: ObjectAccess, services: Resource, address: MutableObject): Promise<boolean> {
  const { name = '', namespace = '', resource } = parentOf(address)
  if (resource !== 'services' || name === '' || namespace === '') return false
  const service = await registry.find(services, namespace, name)
  return service !== undefined && addressesOf(service.object as MutableObject).includes(address.metadata.name ?? '')
}

function addressObject(name: string, { namespace, name: service }: Owner): MutableObject {
  const family = name.includes(':') ? 'IPv6' : 'IPv4'
  return {
    apiVersion: `${group}/v1`,
    kind: 'IPAddress',
    metadata: { name, labels: { 'ipaddress.kubernetes.io/ip-family': family, [managedBy]: allocator } },
    spec: { parentRef: { group: '', resource: 'services', namespace, name: service } },
  }
}

async function unless(isExpected: (error: unknown) => boolean, write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!isExpected(error)) throw error
  }
}
