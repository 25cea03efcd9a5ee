import { newNotFound, newServiceUnavailable } from '@kubewright/api'
import { goQuote, type Random } from '@kubewright/base'
import type { ObjectLookup } from '../registry/object-lookup.ts'
import type { MutableObject } from '../resource/object.ts'
import type { HostPort } from './outgoing.ts'

/** Resolves a port of a service to an address. Rejects with the errors of kube-apiserver. */
export type ServiceResolver = (namespace: string, name: string, port: number) => Promise<HostPort>

/** The fields of a Service that the resolver reads. */
export interface ServiceParts {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> | undefined } | undefined
  readonly spec?:
    | {
        readonly type?: string | undefined
        readonly externalName?: string | undefined
        readonly ipFamilies?: readonly string[] | undefined
        readonly ports?:
          | readonly { readonly name?: string | undefined; readonly port?: number | undefined }[]
          | undefined
      }
    | undefined
}

/** The fields of an EndpointSlice that the resolver reads. The lists are null when the service has no pods. */
export interface EndpointSliceParts {
  readonly addressType?: string | undefined
  readonly endpoints?: readonly EndpointParts[] | null | undefined
  readonly ports?:
    | readonly { readonly name?: string | undefined; readonly port?: number | undefined }[]
    | null
    | undefined
}

/** The fields of an endpoint that the resolver reads. */
export interface EndpointParts {
  readonly addresses?: readonly string[] | undefined
  readonly conditions?: { readonly ready?: boolean | undefined } | undefined
}

/**
 * The annotation of a Service that a program on this machine serves: its port, or its address and port. Webhooks, CRD
 * conversions and APIServices that refer to the Service then reach the program.
 */
export const localAddressAnnotation = 'kubewright.dev/local-address'

const serviceNameLabel = 'kubernetes.io/service-name'

/**
 * Resolves services to one of their ready endpoints, as kube-apiserver does with aggregator routing, because cluster IPs are not
 * routable here. A service of type ExternalName resolves to its external name. A service with {@link localAddressAnnotation}
 * resolves to a program on this machine, which endpoints cannot name: they must not have loopback addresses.
 */
export function endpointResolver(lookup: ObjectLookup, random: Random): ServiceResolver {
  return async (namespace, name, port) => {
    const service = await findService(lookup, namespace, name)
    if (!service) throw newNotFound({ group: '', resource: 'service' }, name)
    const local = service.metadata?.annotations?.[localAddressAnnotation]
    if (local !== undefined) return localAddress(name, local)
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

// Loopback addresses only: the annotation must not make the server connect to other machines.
const localPattern = /^(?:(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\]):)?(\d{1,5})$/

function localAddress(name: string, text: string): HostPort {
  const [, host = '127.0.0.1', port = ''] = localPattern.exec(text) ?? []
  if (port === '' || Number(port) > 65_535) {
    throw newServiceUnavailable(
      `service ${goQuote(name)} has an invalid annotation ${localAddressAnnotation}: use a port, or a loopback address and a port`,
    )
  }
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
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
