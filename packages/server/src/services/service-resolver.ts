import { newNotFound, newServiceUnavailable } from '@kubewright/api'
import { goQuote } from '@kubewright/base'
import type * as core from '@kubewright/k8s/core/v1'
import type * as discovery from '@kubewright/k8s/discovery/v1'
import type { ServerParts } from '../api-server.ts'
import type { ResourceCache } from '../cache/resource-cache.ts'
import type { StoredObject } from '../cache/stored-object.ts'
import type { HostPort } from '../http/outgoing.ts'

/** Finds where a port of a service can be reached; rejects with kube-apiserver's words when nowhere. */
export type ServiceResolver = (namespace: string, name: string, port: number) => Promise<HostPort>

type Parts = Pick<ServerParts, 'registry' | 'resources'>

/** Names the service that an endpoint slice belongs to. */
const serviceNameLabel = 'kubernetes.io/service-name'

/**
 * Resolves services to one of their ready endpoints, as kube-apiserver does with aggregator routing: there is no service network
 * here that a cluster address could be dialed in. A service of type ExternalName is reached under that name, which is how one leads
 * to a program on the same machine: endpoints must not have loopback addresses.
 */
export function endpointResolver(parts: Parts & Pick<ServerParts, 'random'>): ServiceResolver {
  return async (namespace, name, port) => {
    const service = await findService(parts, namespace, name)
    if (!service) throw newNotFound({ group: '', resource: 'service' }, name)
    const { type = 'ClusterIP', ports = [], externalName = '', ipFamilies = [] } = service.spec ?? {}
    if (type === 'ExternalName') return { host: externalName, port }
    const servicePort = ports.find((candidate) => candidate.port === port)
    if (!servicePort) throw newServiceUnavailable(`no service port ${port} found for service ${goQuote(name)}`)
    const slices = await findEndpointSlices(parts, namespace, name)
    const preferred = slices.filter(({ addressType }) => addressType === ipFamilies[0])
    const rest = slices.filter(({ addressType }) => addressType !== ipFamilies[0])
    for (const slice of [...preferred, ...rest]) {
      const found = (slice.ports ?? []).find((candidate) => (candidate.name ?? '') === (servicePort.name ?? ''))
      if (found?.port === undefined) continue
      const ready = (slice.endpoints ?? []).filter(isReady)
      if (ready.length === 0) continue
      const chosen = ready[Math.floor(parts.random.next() * ready.length)]!
      return { host: chosen.addresses[0]!, port: found.port }
    }
    throw newServiceUnavailable(`no endpoints available for service ${goQuote(name)}`)
  }
}

/** A service as the cache has it. */
export async function findService(parts: Parts, namespace: string, name: string): Promise<core.Service | undefined> {
  const cache = await serviceCache(parts)
  return contentOf<core.Service>(cache.get(`${cache.prefix}${namespace}/${name}`))
}

/** The endpoint slices of a service, as the cache has them. */
export async function findEndpointSlices(
  parts: Parts,
  namespace: string,
  service: string,
): Promise<readonly discovery.EndpointSlice[]> {
  const cache = await endpointSliceCache(parts)
  return cache
    .list(`${cache.prefix}${namespace}/`)
    .filter(({ object }) => object.metadata.labels?.[serviceNameLabel] === service)
    .map((stored) => contentOf<discovery.EndpointSlice>(stored)!)
}

/** An endpoint that does not say otherwise is ready. */
export function isReady({ conditions }: discovery.Endpoint): boolean {
  return conditions?.ready ?? true
}

/** The cache of services. */
export function serviceCache(parts: Parts): Promise<ResourceCache> {
  return cacheOf(parts, '', 'services')
}

/** The cache of endpoint slices. */
export function endpointSliceCache(parts: Parts): Promise<ResourceCache> {
  return cacheOf(parts, 'discovery.k8s.io', 'endpointslices')
}

function cacheOf({ registry, resources }: Parts, group: string, plural: string): Promise<ResourceCache> {
  const resource = resources.find(group, 'v1', plural)
  if (!resource) throw new Error(`Cannot resolve services: ${plural} are not served`)
  return registry.feed.cache(resource.storage.prefix)
}

// Stored objects have been validated as what they are.
function contentOf<T>(stored: StoredObject | undefined): T | undefined {
  return stored?.object as unknown as T | undefined
}
