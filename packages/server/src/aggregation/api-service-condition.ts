import { goQuote } from '@kubewright/base'
import { findEndpointSlices, findService, isReady, localAddressAnnotation } from '../outgoing/service-resolver.ts'
import type { ObjectLookup } from '../registry/object-lookup.ts'
import type { MutableObject } from '../resource/object.ts'
import { aggregatorUser, type ExtensionServers } from './extension-servers.ts'
import { readText } from './remote-discovery.ts'

/** An APIService that is served by an extension server. */
export interface RemoteApiService extends MutableObject {
  spec: {
    group: string
    version: string
    groupPriorityMinimum?: number | undefined
    versionPriority?: number | undefined
    service: { name: string; namespace: string; port?: number | undefined }
    insecureSkipTLSVerify?: boolean | undefined
    /** PEM in base64. */
    caBundle?: string | undefined
  }
  status?:
    | {
        conditions?:
          | {
              type: string
              status: string
              lastTransitionTime?: string | undefined
              reason?: string | undefined
              message?: string | undefined
            }[]
          | undefined
      }
    | undefined
}

/** Whether the extension server of an APIService is reachable, and the reason. */
export interface Availability {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

/** Milliseconds. */
const checkTimeout = 5000
/** Several servers may run behind a service; the check passes when one of them responds. */
const attempts = 5

/** Checks that the service and its endpoints exist and that the extension server responds to discovery. */
export async function availabilityOf(
  service: RemoteApiService,
  lookup: ObjectLookup,
  servers: ExtensionServers,
): Promise<Availability> {
  const missing = await missingPart(service, lookup)
  if (missing) return { status: 'False', ...missing }
  const results = await Promise.all(Array.from({ length: attempts }, () => checkDiscovery(service, servers)))
  if (results.includes(undefined)) return { status: 'True', reason: 'Passed', message: 'all checks passed' }
  return { status: 'False', reason: 'FailedDiscoveryCheck', message: results.at(-1)! }
}

async function missingPart(
  { spec }: RemoteApiService,
  lookup: ObjectLookup,
): Promise<Pick<Availability, 'reason' | 'message'> | undefined> {
  const { name, namespace, port = 443 } = spec.service
  const subject = `service/${name} in ${goQuote(namespace)}`
  const service = await findService(lookup, namespace, name)
  if (!service) return { reason: 'ServiceNotFound', message: `${subject} is not present` }
  // A program on this machine serves instead of the endpoints; the resolver does not read them either.
  if (service.metadata?.annotations?.[localAddressAnnotation] !== undefined) return undefined
  if ((service.spec?.type ?? 'ClusterIP') !== 'ClusterIP') return undefined
  const found = service.spec?.ports?.find((candidate) => candidate.port === port)
  if (!found) return { reason: 'ServicePortError', message: `${subject} is not listening on port ${port}` }
  const slices = await findEndpointSlices(lookup, namespace, name)
  if (slices.length === 0) {
    return { reason: 'EndpointsNotFound', message: `cannot find endpointslices for ${subject}` }
  }
  const portName = found.name ?? ''
  const active = slices.some(
    ({ endpoints, ports }) =>
      endpoints?.some(isReady) &&
      ports?.some((candidate) => (candidate.name ?? '') === portName && candidate.port !== undefined),
  )
  if (active) return undefined
  const message = `endpointslices for ${subject} have no addresses with port name ${goQuote(portName)}`
  return { reason: 'MissingEndpoints', message }
}

/** Requests the discovery document that every extension server must serve. Returns the problem, or undefined. */
async function checkDiscovery(service: RemoteApiService, servers: ExtensionServers): Promise<string | undefined> {
  const { group, version } = service.spec
  const path = group ? `/apis/${group}/${version}` : `/api/${version}`
  let url: URL
  try {
    url = new URL(path, await servers.locate(service))
  } catch (error) {
    return (error as Error).message
  }
  // Go prints the default port.
  const printed = url.port === '' ? `https://${url.hostname}:443${path}` : url.href
  const stopping = new AbortController()
  const late = (): void => stopping.abort(new Error('context deadline exceeded'))
  const timer = servers.clock.setTimer(checkTimeout, late, 'discovery check of an extension server')
  try {
    const { signal } = stopping
    const response = await servers.send(service, {
      method: 'GET',
      target: path,
      user: aggregatorUser,
      signal,
      // The certificate is verified when requests are proxied. This check only asks whether the server responds.
      verify: false,
    })
    await readText(response)
    if (response.status >= 200 && response.status < 300) return undefined
    return `failing or missing response from ${printed}: bad status from ${printed}: ${response.status}`
  } catch (error) {
    return `failing or missing response from ${printed}: Get ${goQuote(printed)}: ${(error as Error).message}`
  } finally {
    timer.cancel()
  }
}
