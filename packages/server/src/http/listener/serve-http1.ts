import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ApiHandler, ApiRequest, ApiResponse } from '@kubewright/api'
import { IncomingBody } from '@kubewright/base'
import type { Flusher } from '../http2/flusher.ts'
import type { Exchange } from './exchange.ts'
import { Http1Output } from './http1-output.ts'
import { bodyError, type IncomingRequest, isLongRunningUrl, toApiRequest } from './incoming-request.ts'
import type { OpenConnections } from './open-connections.ts'
import { NodeOutput } from './output.ts'
import { peerOf } from './request-peer.ts'

/** Serves a request of HTTP/1.1. The exchange is in `open` until the client has taken the response. */
export async function serveRequest(
  handler: ApiHandler,
  request: IncomingMessage,
  response: ServerResponse,
  open: OpenConnections,
  flusher: Flusher,
): Promise<void> {
  const isLongRunning = (): boolean => isLongRunningUrl(request.method ?? '', request.url ?? '')
  const output = new Http1Output(response, flusher)
  const exchange = open.begin(open.of(request.socket), output, isLongRunning)
  request.on('error', () => exchange.cancel())
  try {
    const answer = await handleRequest(handler, request, bodyOf(request, response, open), exchange)
    if (open.isDraining) response.shouldKeepAlive = false
    await send(exchange, response, answer, request.method ?? '', output)
    exchange.complete()
  } catch {
    // The handler never rejects: the connection broke, or a streamed body failed.
    response.destroy()
  }
}

/** Calls the handler. Not part of {@link serveRequest}, which would keep the request in memory until the end of a watch. */
function handleRequest(
  handler: ApiHandler,
  request: IncomingMessage,
  body: ApiRequest['body'],
  exchange: Exchange,
): Promise<ApiResponse> {
  return handler(toApiRequest(received(request, body), exchange))
}

const noBody: ApiRequest['body'] = () => Promise.resolve(new Uint8Array())

/** Receives the body from now on, whether the handler reads it or not. */
function bodyOf(request: IncomingMessage, response: ServerResponse, open: OpenConnections): ApiRequest['body'] {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
  if (length === '0' && encoding === undefined) return noBody
  const incoming = new IncomingBody(request, open.bodies.accountOf(request.socket))
  response.once('close', () => incoming.done())
  response.once('finish', () => incoming.done())
  return async (limit) => {
    const body = await incoming.read(limit)
    if (typeof body === 'string') throw bodyError(body, limit)
    return body
  }
}

/** Serves a request of HTTP/1.1 with an `Upgrade` header. A handler that does not upgrade sends a normal response. */
export async function serveUpgrade(
  handler: ApiHandler,
  request: IncomingMessage,
  { socket, head }: { socket: Socket; head: Buffer },
  open: OpenConnections,
): Promise<void> {
  const exchange = open.begin(open.of(socket), socket, () => true)
  try {
    // Bytes after the head belong to the upgraded protocol.
    const answer = await handler(toApiRequest(received(request, noBody), exchange))
    if (answer.status === 101 && answer.upgraded) {
      socket.write(switchingHead(answer))
      if (head.length > 0) socket.unshift(head)
      answer.upgraded(socket)
      return
    }
    const response = new (process.getBuiltinModule('node:http').ServerResponse)(request)
    response.assignSocket(socket)
    response.shouldKeepAlive = false
    response.once('finish', () => socket.end())
    // The socket belongs to the exchange above; the response has one of its own, which counts its bytes. Node passes no 'drain' of the
    // socket on to a response that it did not create.
    const output = new NodeOutput(response, socket)
    await send(open.begin(undefined, output), response, answer, request.method ?? '')
  } catch {
    // The handler never rejects: the connection broke, or a streamed body failed.
    socket.destroy()
  }
}

function switchingHead({ headers }: ApiResponse): string {
  const lines = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().map((value) => `${name}: ${value}\r\n`),
  )
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`
}

function received(request: IncomingMessage, body: ApiRequest['body']): IncomingRequest {
  const { method = '', url = '', headers, rawHeaders } = request
  return { method, url, headers, rawHeaders, peer: peerOf(request.socket as TLSSocket), body }
}

async function send(
  exchange: Exchange,
  response: ServerResponse,
  answer: ApiResponse,
  method: string,
  output?: Http1Output,
): Promise<void> {
  if (response.writableEnded || response.destroyed) return
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value as string | string[])
  response.statusCode = answer.status
  if (method === 'HEAD' || answer.body === undefined) {
    response.end()
    return
  }
  if (typeof answer.body !== 'function') return exchange.end(answer.body)
  response.writeHead(answer.status)
  // Sends the headers at once, because a client waits for them before the first event of a watch.
  response.flushHeaders()
  output?.startStream()
  await answer.body(exchange)
  await exchange.drained()
  if (output) output.end()
  else response.end()
}
