import type { ApiResponse, BodySink } from '@kubewright/api'
import type { RequestContext } from '../request/request-context.ts'
import { acceptHeaders, loadFraming, offeredProtocols, WebSocketServer } from './web-socket-server.ts'

/** The WebSocket protocols of a byte stream to the client. Without a protocol, messages are binary. */
const protocols = ['', 'binary.k8s.io', 'base64.binary.k8s.io']

/**
 * Sends the body of a response over a WebSocket if the client requested one, as kube-apiserver does for logs: an empty message, then the
 * bytes (apiserver/pkg/endpoints/handlers/responsewriters/writers.go). Messages of the client are ignored.
 */
export async function overWebSocket(context: RequestContext, response: ApiResponse): Promise<ApiResponse> {
  const offered = offeredProtocols(context)
  const { body } = response
  if (offered === undefined || response.status !== 200 || typeof body !== 'function') return response
  const protocol = offered.find((name) => protocols.includes(name))
  if (protocol === undefined) return { status: 403, headers: {} }
  const { 'sec-websocket-protocol': named, ...headers } = acceptHeaders(context, protocol)
  const framing = await loadFraming()
  return {
    status: 101,
    headers: named ? { ...headers, 'sec-websocket-protocol': named } : headers,
    upgraded: (connection) => {
      let isClosed = false
      let wake = (): void => undefined
      const socket = new WebSocketServer(
        framing,
        connection,
        () => undefined,
        () => {
          isClosed = true
          wake()
        },
      )
      const isText = protocol === 'base64.binary.k8s.io'
      const write = (chunk: Uint8Array): boolean => socket.send(isText ? Buffer.from(chunk).toString('base64') : chunk)
      const sink: BodySink = {
        write,
        drained: () =>
          new Promise<void>((resolve) => {
            wake = resolve
            if (isClosed) resolve()
            else socket.drained(resolve)
          }),
      }
      // Announces to the client that the connection is established.
      write(new Uint8Array())
      body(sink).then(
        () => socket.close(),
        () => connection.destroy(),
      )
    },
  }
}
