import type { Transport, TransportBody, TransportResponse } from '@kubewright/client'
import { accessOfRequest } from './used-access.ts'

/** The options of {@link roughTransport}. */
export interface RoughTransportOptions {
  /** Whether the server lacks streaming lists, like older servers. */
  readonly isOld: boolean
  /** Selects requests. The response to the first selected write of each resource is lost. */
  readonly loses: (request: string) => boolean
  /** Called with each forbidden request and its message. */
  readonly onRefused: (request: string, message: string) => void
}

/** A transport with failures that an operator must tolerate. */
export function roughTransport(transport: Transport, options: RoughTransportOptions): Transport {
  const lost = new Set<string>()
  return {
    host: transport.host,
    async send(request) {
      if (options.isOld && request.path.includes('sendInitialEvents=true')) return noStreaming()
      const response = await transport.send(request)
      const access = accessOfRequest(request.method, request.path)
      if (response.status === 403) {
        const bytes = await response.body.bytes()
        const { message } = JSON.parse(Buffer.from(bytes).toString()) as { message: string }
        options.onRefused(access ?? `${request.method} ${request.path}`, message)
        return { ...response, body: bodyOf(bytes) }
      }
      if (access === undefined || request.method === 'GET' || response.status > 299) return response
      const [, what = ''] = access.split(' ')
      if (!options.loses(access) || isHousekeeping(what) || lost.has(what)) return response
      lost.add(what)
      response.body.discard()
      return answer(504, 'Timeout', 'request did not complete within the allotted timeout')
    },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  }
}

/** Whether a request is one of the runtime itself, which it would retry only after a while. */
const isHousekeeping = (what: string): boolean =>
  /reviews$|^events\.k8s\.io\/|^coordination\.k8s\.io\/|^admissionregistration\.k8s\.io\/|^apiextensions\.k8s\.io\/|^\/secrets$/.test(
    what,
  )

/** The message of servers without streaming lists. */
const noStreaming = (): TransportResponse =>
  answer(
    422,
    'Invalid',
    'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
  )

function answer(code: number, reason: string, message: string): TransportResponse {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code }
  const headers = { 'content-type': ['application/json'] }
  return { status: code, headers, body: bodyOf(Buffer.from(JSON.stringify(status))) }
}

function bodyOf(bytes: Uint8Array): TransportBody {
  return {
    bytes: async () => bytes,
    discard: () => undefined,
    async *[Symbol.asyncIterator]() {
      yield bytes
    },
  }
}
