import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ApiHandler, ApiResponse } from '@kubewright/api'
import { bodySinkOf } from './body-sink.ts'
import { Cancellation, type IncomingRequest, toApiRequest } from './incoming-request.ts'
import { peerOf } from './request-peer.ts'

/** Serves a request of HTTP/1.1. `open` contains the cancellations of all requests in flight. */
export async function serveRequest(
  handler: ApiHandler,
  request: IncomingMessage,
  response: ServerResponse,
  open: Set<Cancellation>,
): Promise<void> {
  const cancellation = new Cancellation()
  const cancel = (): void => cancellation.cancel()
  open.add(cancellation)
  response.once('close', cancel)
  request.on('error', cancel)
  response.on('error', cancel)
  try {
    const answer = await handler(toApiRequest(received(request), cancellation))
    await send(response, answer, request.method ?? '')
    cancellation.complete = true
  } catch {
    // The handler never rejects, so the connection broke while the response was written.
    response.destroy()
  } finally {
    open.delete(cancellation)
  }
}

/** Serves a request of HTTP/1.1 with an `Upgrade` header. A handler that does not upgrade sends a normal response. */
export async function serveUpgrade(
  handler: ApiHandler,
  request: IncomingMessage,
  { socket, head }: { socket: Socket; head: Buffer },
  open: Set<Cancellation>,
): Promise<void> {
  const cancellation = new Cancellation()
  open.add(cancellation)
  socket.once('close', () => {
    cancellation.cancel()
    open.delete(cancellation)
  })
  socket.on('error', () => cancellation.cancel())
  try {
    // Bytes after the head belong to the upgraded protocol.
    const apiRequest = toApiRequest(received(request), cancellation)
    const answer = await handler({ ...apiRequest, signal: cancellation.signal, body: async () => new Uint8Array() })
    if (answer.status === 101 && answer.upgraded) {
      socket.write(switchingHead(answer))
      if (head.length > 0) socket.unshift(head)
      answer.upgraded(socket)
      return
    }
    const response = new ServerResponse(request)
    response.assignSocket(socket)
    response.shouldKeepAlive = false
    response.once('finish', () => socket.end())
    await send(response, answer, request.method ?? '')
  } catch {
    // The handler never rejects, so the connection broke while the response was written.
    socket.destroy()
  }
}

function switchingHead({ headers }: ApiResponse): string {
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}\r\n`),
  )
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`
}

function received(request: IncomingMessage): IncomingRequest {
  const { method = '', url = '', headers, rawHeaders } = request
  return { method, url, headers, rawHeaders, peer: peerOf(request.socket as TLSSocket), body: request }
}

async function send(response: ServerResponse, answer: ApiResponse, method: string): Promise<void> {
  if (response.writableEnded || response.destroyed) return
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value as string | string[])
  response.statusCode = answer.status
  if (method === 'HEAD' || answer.body === undefined) {
    response.end()
    return
  }
  if (typeof answer.body !== 'function') {
    response.end(answer.body)
    return
  }
  response.writeHead(answer.status)
  // Sends the headers at once, because a client waits for them before the first event of a watch.
  response.flushHeaders()
  await answer.body(bodySinkOf(response))
  response.end()
}
