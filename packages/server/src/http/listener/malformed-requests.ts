import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2SecureServer } from 'node:http2'
import type { Socket } from 'node:net'

/**
 * The reason why a request of HTTP/1.1 is refused: RFC 9112 and Go demand exactly one Host. Node demands it of its plain servers only.
 */
export function hostProblem({ httpVersion, headersDistinct }: IncomingMessage): string | undefined {
  const hosts = headersDistinct['host'] ?? []
  if (hosts.length > 1) return 'too many Host headers'
  return hosts.length === 0 && httpVersion === '1.1' ? 'missing required Host header' : undefined
}

/** Refuses a request because of its {@link hostProblem}, with Go's text, and closes the connection. */
export function refuseHost(response: ServerResponse, problem: string): void {
  response.shouldKeepAlive = false
  response.writeHead(400, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
  response.end(`400 Bad Request: ${problem}`)
}

/**
 * Refuses bytes that are not a request of HTTP/1.1 and closes the connection. Complete requests in front of them are served first, as in
 * Go: the body of a DELETE without a length counts as such bytes.
 */
export function refuseMalformedRequests(server: Http2SecureServer): void {
  const responses = new WeakMap<Socket, ServerResponse>()
  const refused = new WeakSet<Socket>()
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    responses.set(request.socket, response)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (refused.has(socket)) return
    refused.add(socket)
    const last = responses.get(socket)
    if (!last || last.writableFinished || last.closed) refuse(socket, error)
    else if (last.req.complete) last.once('close', () => refuse(socket, error))
    // The body of the request is malformed. What has been sent of its response is all that the client receives.
    else if (last.headersSent) socket.destroy()
    else refuse(socket, error)
  })
}

function refuse(socket: Socket, { code }: NodeJS.ErrnoException): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  if (code === 'HPE_HEADER_OVERFLOW') socket.write(refusal('431 Request Header Fields Too Large'))
  else if (code?.startsWith('HPE_')) socket.write(refusal('400 Bad Request'))
  socket.destroySoon()
}

function refusal(status: string): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${status}`
}
