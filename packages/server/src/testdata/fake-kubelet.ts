import type { IncomingMessage } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'
import { inflateSync, constants as zlib } from 'node:zlib'
import type { KeyedCertificate } from '@kubewright/base/pki'

/** A request that a {@link FakeKubelet} received. */
export interface KubeletRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  /** The common name of the client certificate. */
  readonly client: string
}

/**
 * A server with the endpoints of a kubelet. exec and attach over SPDY copy stdin to stdout and end with the exit code 3; port-forward and other
 * upgrades send all bytes back. Its address is a loopback one.
 */
export class FakeKubelet implements AsyncDisposable {
  readonly requests: KubeletRequest[] = []
  readonly #server: Server
  readonly #sockets = new Set<Duplex>()

  private constructor(certificate: KeyedCertificate, clientCa: string) {
    this.#server = createServer({ ...certificate, ca: clientCa, requestCert: true, rejectUnauthorized: false })
    this.#server.on('connection', (socket: Duplex) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    this.#server.on('request', (request, response) => {
      this.#record(request)
      const url = request.url ?? ''
      if (url.includes('/waiting')) response.writeHead(400).end('container "waiting" is waiting to start')
      else if (url.includes('/redirect')) response.writeHead(302, { location: '/login?a=b' }).end()
      else response.writeHead(200, { 'content-type': 'text/html' }).end(`${request.method} ${url}\n`)
    })
    this.#server.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
      this.#record(request)
      const upgrade = request.headers.upgrade ?? ''
      socket.on('error', () => socket.destroy())
      if (request.url?.includes('/refused')) {
        socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 8\r\n\r\nno exec\n')
        return
      }
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${upgrade}\r\n\r\n`)
      const isCommand = /^\/(exec|attach)\//.test(request.url ?? '')
      if (upgrade === 'SPDY/3.1' && isCommand) runCommand(socket)
      else socket.pipe(socket)
    })
  }

  static async start(certificate: KeyedCertificate, clientCa: string): Promise<FakeKubelet> {
    const kubelet = new FakeKubelet(certificate, clientCa)
    await new Promise<void>((resolve) => void kubelet.#server.listen(0, '127.0.0.1', resolve))
    return kubelet
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  #record(request: IncomingMessage): void {
    const client = (request.socket as TLSSocket).getPeerCertificate().subject?.CN
    const { method = '', url = '', headers } = request
    this.requests.push({ method, url, headers, client: typeof client === 'string' ? client : '' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

/** The server's end of SPDY: copies stdin to stdout, and the terminal sizes to stderr. */
function runCommand(socket: Duplex): void {
  const ids = new Map<string, number>()
  let pending: Buffer = Buffer.alloc(0)
  let headers: Buffer = Buffer.alloc(0)
  const send = (type: string, text: string | Buffer, flags = 0): void => {
    const id = ids.get(type)
    if (id === undefined) return
    const payload = Buffer.from(text)
    const head = Buffer.alloc(8)
    head.writeUInt32BE(id, 0)
    head.writeUInt32BE(payload.length, 4)
    head[4] = flags
    socket.write(Buffer.concat([head, payload]))
  }
  const finish = (): void => {
    const causes = [{ reason: 'ExitCode', message: '3' }]
    const status = { metadata: {}, status: 'Failure', message: 'x', reason: 'NonZeroExitCode', details: { causes } }
    for (const type of ['stdout', 'stderr']) send(type, '', 1)
    send('error', JSON.stringify(status), 1)
  }
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk])
    while (pending.length >= 8) {
      const length = pending.readUInt32BE(4) & 0xffffff
      if (pending.length < 8 + length) return
      const [first, flags] = [pending.readUInt32BE(0), pending[4]!]
      const payload = pending.subarray(8, 8 + length)
      pending = pending.subarray(8 + length)
      if (first >>> 31 === 1) {
        // SYN_STREAM: all header blocks are one zlib stream. The type of the stream is the last header value.
        headers = Buffer.concat([headers, payload.subarray(10)])
        const text = inflateSync(headers, { finishFlush: zlib.Z_SYNC_FLUSH }).toString('latin1')
        ids.set(/(error|stdin|stdout|stderr|resize)$/.exec(text)?.[1] ?? '', payload.readUInt32BE(0))
        if (!ids.has('stdin') && ids.has('stderr')) finish()
      } else if (first === ids.get('stdin')) {
        send('stdout', payload)
        if (flags & 1) finish()
      } else if (first === ids.get('resize')) send('stdout', payload)
    }
  })
}
