import { systemClock, VirtualClock } from '@kubewright/base'
import { type ApiHandler, createServerIdentity, type Listener, listen, type ServerIdentity } from '@kubewright/server'
import { type HttpTransportOptions, httpTransport } from '../transport/http-transport.ts'
import type { Transport } from '../transport/transport.ts'

/** Generating keys is slow, so all tests of a file share one set. */
let shared: ServerIdentity | undefined
export function testIdentity(): ServerIdentity {
  return (shared ??= createServerIdentity(systemClock.now()))
}

/** Serves a handler over TLS on the loopback interface. */
export function listenForTest(handler: ApiHandler): Promise<Listener> {
  const { ca, serving } = testIdentity()
  return listen({ handler, cert: serving.cert, key: serving.key, clientCas: [ca.cert] })
}

/** Opens a transport to a handler behind TLS. Disposing it closes both. */
export async function tlsTransport(
  handler: ApiHandler,
  options: Partial<HttpTransportOptions> = {},
): Promise<Transport> {
  const { ca, admin } = testIdentity()
  const listener = await listenForTest(handler)
  const material = { ca: ca.cert, cert: admin.cert, key: admin.key }
  // No time passes: on a busy machine, the handshakes of many connections at once take longer than their limit.
  const clock = new VirtualClock()
  const server = `https://127.0.0.1:${listener.port}`
  const transport = httpTransport({ server, tls: () => material, clock, ...options })
  return {
    host: transport.host,
    send: (request) => transport.send(request),
    [Symbol.asyncDispose]: async () => {
      await transport[Symbol.asyncDispose]()
      await listener[Symbol.asyncDispose]()
    },
  }
}
