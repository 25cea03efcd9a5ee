import { type ApiResponse, newServiceUnavailable } from '@kubewright/api'
import type { Outgoing } from '../outgoing/outgoing.ts'
import type { RequestContext } from '../request/request-context.ts'
import { unclassifiedError } from '../request/unclassified-error.ts'
import { type Backend, urlOf } from './backend.ts'
import { forwardedHeaders } from './proxy-headers.ts'
import { passOn } from './proxy-response.ts'
import { acceptHeaders, loadFraming, offeredProtocols, WebSocketServer } from './web-socket-server.ts'

const prefix = 'SPDY/3.1+'

/** Whether the client offers to tunnel a SPDY connection through a WebSocket. */
export function wantsTunnel(context: RequestContext): boolean {
  return tunnelOf(context) !== undefined
}

function tunnelOf(context: RequestContext): string | undefined {
  return offeredProtocols(context)?.find((name) => name.startsWith(prefix))
}

/**
 * Forwards the bytes in the messages of a WebSocket to a SPDY connection with a kubelet, and back
 * (apiserver/pkg/util/proxy/streamtunnel.go). The response of a kubelet that does not upgrade is passed on.
 */
export async function tunnelPortForward(
  outgoing: Outgoing,
  context: RequestContext,
  backend: Backend,
  target: string,
): Promise<ApiResponse> {
  const { request } = context
  const protocol = tunnelOf(context)
  if (protocol === undefined) throw newServiceUnavailable('the client offers no tunnel')
  const headers = Object.entries(forwardedHeaders(context)).filter(([name]) => !name.startsWith('sec-websocket-'))
  const framing = await loadFraming()
  const stop = new AbortController()
  request.signal.addEventListener('abort', () => stop.abort(request.signal.reason), { once: true })
  const response = await outgoing({
    method: request.method,
    url: urlOf(backend, '/'),
    target,
    headers: {
      ...Object.fromEntries(headers),
      connection: 'Upgrade',
      upgrade: 'SPDY/3.1',
      'x-stream-protocol-version': protocol.slice(prefix.length),
    },
    upgrade: true,
    tls: backend.tls,
    signal: stop.signal,
  }).catch((error: unknown) => {
    throw unclassifiedError(`error dialing backend: ${(error as Error).message}`)
  })
  const { upgraded: kubelet } = response
  if (!kubelet) return passOn(response, request.signal, () => undefined)
  return {
    status: 101,
    headers: acceptHeaders(context, protocol),
    upgraded: (connection) => {
      const client = new WebSocketServer(
        framing,
        connection,
        (message) => {
          if (kubelet.destroyed || kubelet.write(message)) return
          client.pause()
          kubelet.once('drain', () => client.resume())
        },
        () => kubelet.end(),
      )
      kubelet.on('data', (chunk: Buffer) => {
        if (client.send(chunk)) return
        kubelet.pause()
        client.drained(() => kubelet.resume())
      })
      kubelet.once('error', () => kubelet.destroy())
      kubelet.once('close', () => client.close())
    },
  }
}
