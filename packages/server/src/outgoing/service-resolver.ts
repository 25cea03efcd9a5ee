import { newNotFound, newServiceUnavailable } from '@kubewright/api'
import { goQuote, type Random } from '@kubewright/base'
import type { ObjectLookup } from '../registry/object-lookup.ts'
import type { MutableObject } from '../resource/object.ts'
import type { HostPort } from './outgoing.ts'

/** Resolves a port of a service to an address. Rejects with the errors of kube-apiserver. */
export type ServiceResolver = (namespace: string, name: string, port: number) => Promise<HostPort>

/** The fields of a Service that the resolver reads. */
export interface ServiceParts {
  readonly spec?: {
    readonly type?: string
    readonly externalName?: string
    readonly ipFamilies?: readonly string[]
    readonly ports?: readonly { readonly name?: string; readonly port?: number }[]
  }
}

/** The fields of an EndpointSlice that the resolver reads. The lists are null when the service has no pods. */
export interface EndpointSliceParts {
  readonly addressType?: string
  readonly endpoints?: readonly EndpointParts[] | null
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[] | null
}

/** The fields of an endpoint that the resolver reads. */
export interface EndpointParts {
  readonly addresses?: readonly string[]
  readonly conditions?: { readonly ready?: boolean }
}

const serviceNameLabel = 'kubernetes.io/service-name'

/**
 * Resolves services to one of their ready endpoints, as kube-apiserver does with aggregator routing, because cluster IPs are not
 * routable here. A service of type ExternalName resolves to its external name; that is the way to reach a program on the same
 * machine, since endpoints must not have loopback addresses.
 */
export function endpointResolver(lookup: ObjectLookup, random: Random): ServiceResolver {
  return async (namespace, name, port) => {
    const service = await findService(lookup, namespace, name)
    if (!service) throw newNotFound({ group: '', resource: 'service' }, name)
    const { type = 'ClusterIP', ports = [], externalName = '', ipFamilies = [] } = service.spec ?? {}
    if (type === 'ExternalName') return { host: externalName, port }
    const servicePort = ports.find((candidate) => candidate.port === port)
    if (!servicePort) throw newServiceUnavailable(`no service port ${port} found for service ${goQuote(name)}`)
    const slices = await findEndpointSlices(lookup, namespace, name)
    const preferred = slices.filter(({ addressType }) => addressType === ipFamilies[0])
    const others = slices.filter(({ addressType }) => addressType !== ipFamilies[0])
    for (const { ports: slicePorts, endpoints } of [...preferred, ...others]) {
      const found = slicePorts?.find((candidate) => (candidate.name ?? '') === (servicePort.name ?? ''))
      const ready = endpoints?.filter(isReady) ?? []
      const host = ready[Math.floor(random.next() * ready.length)]?.addresses?.[0]
      if (found?.port !== undefined && host !== undefined) return { host, port: found.port }
    }
    throw newServiceUnavailable(`no endpoints available for service ${goQuote(name)}`)
  }
}

/** The service of that name, if it exists. */
export async function findService(
  lookup: ObjectLookup,
  namespace: string,
  name: string,
): Promise<ServiceParts | undefined> {
  return (await lookup.find(['', 'v1', 'services'], namespace, name)) as ServiceParts | undefined
}

/** The endpoint slices that belong to a service. */
export async function findEndpointSlices(
  lookup: ObjectLookup,
  namespace: string,
  service: string,
): Promise<readonly EndpointSliceParts[]> {
  const slices = await lookup.list(['discovery.k8s.io', 'v1', 'endpointslices'], namespace)
  const belongs = ({ metadata }: Readonly<MutableObject>): boolean => metadata.labels?.[serviceNameLabel] === service
  return slices.filter(belongs) as readonly EndpointSliceParts[]
}

/** Whether an endpoint accepts requests; the default is true. */
export function isReady({ conditions }: EndpointParts): boolean {
  return conditions?.ready ?? true
}
