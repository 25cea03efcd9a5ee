import type { ObjectLookup } from '../admission/plugins/object-lookup.ts'
import type { MutableObject } from '../registry/resource.ts'

const services = ['', 'v1', 'services'] as const
const endpointSlices = ['discovery.k8s.io', 'v1', 'endpointslices'] as const

/** An APIService that another server answers for. */
export interface RemoteApiService extends MutableObject {
  spec: {
    group: string
    version: string
    service: { name: string; namespace: string; port?: number }
  }
  status?: { conditions?: { type: string; status: string; reason?: string; message?: string }[] }
}

/** Whether the server behind an APIService can be reached, and if not, why. */
export interface Availability {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

interface ServiceParts {
  readonly spec?: {
    readonly type?: string
    readonly ports?: readonly { readonly name?: string; readonly port?: number }[]
  }
}

interface SliceParts {
  readonly endpoints?: readonly { readonly conditions?: { readonly ready?: boolean } }[]
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[]
}

/** Looks for the service and its endpoints, as the aggregator does before it asks the server itself. */
export async function availabilityOf({ spec }: RemoteApiService, lookup: ObjectLookup): Promise<Availability> {
  const { name, namespace, port = 443 } = spec.service
  const subject = `service/${name} in "${namespace}"`
  const no = (reason: string, message: string): Availability => ({ status: 'False', reason, message })
  const service = (await lookup.find(services, namespace, name)) as ServiceParts | undefined
  if (!service) return no('ServiceNotFound', `${subject} is not present`)
  if ((service.spec?.type ?? 'ClusterIP') === 'ClusterIP') {
    const found = service.spec?.ports?.find((candidate) => candidate.port === port)
    if (!found) return no('ServicePortError', `${subject} is not listening on port ${port}`)
    const slices = (await lookup.list(endpointSlices, namespace)).filter(
      ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name,
    ) as SliceParts[]
    if (slices.length === 0) return no('EndpointsNotFound', `cannot find endpointslices for ${subject}`)
    const portName = found.name ?? ''
    const active = slices.some(
      ({ endpoints = [], ports = [] }) =>
        endpoints.some(({ conditions }) => conditions?.ready !== false) &&
        ports.some((candidate) => (candidate.name ?? '') === portName && candidate.port !== undefined),
    )
    if (!active) {
      return no('MissingEndpoints', `endpointslices for ${subject} have no addresses with port name "${portName}"`)
    }
  }
  return no('FailedDiscoveryCheck', `no response from ${subject}: this server does not forward requests to others`)
}
