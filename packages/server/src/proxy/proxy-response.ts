import type { Duplex } from 'node:stream'
import type { ApiResponse, BodySink } from '@kubewright/api'
import type { OutgoingResponse } from '../outgoing/outgoing.ts'
import { returnedHeaders } from './proxy-headers.ts'

/** Passes a response on. `ended` is called once, when its body or its upgraded connection has ended. */
export function passOn(response: OutgoingResponse, signal: AbortSignal, ended: () => void): ApiResponse {
  const { upgraded } = response
  if (upgraded) {
    upgraded.once('close', ended)
    const headers = { ...returnedHeaders(response), connection: 'Upgrade', upgrade: response.headers['upgrade'] ?? [] }
    return { status: response.status, headers, upgraded: (client) => joinConnections(client, upgraded) }
  }
  return {
    status: response.status,
    headers: returnedHeaders(response),
    body: (sink) => copyBody(response, sink, signal).finally(ended),
  }
}

/** Copies bytes in both directions until one side closes. */
export function joinConnections(client: Duplex, server: Duplex): void {
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.pipe(to)
    from.once('error', () => to.destroy())
    // Flushes pending bytes before closing.
    from.once('close', () => to.end())
  }
}

async function copyBody({ body }: OutgoingResponse, sink: BodySink, signal: AbortSignal): Promise<void> {
  try {
    for await (const chunk of body) if (!sink.write(chunk)) await sink.drained()
  } catch (error) {
    // The client has disconnected and needs no error.
    if (!signal.aborted) throw error
  }
}
