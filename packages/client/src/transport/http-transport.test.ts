import { type EventEmitter, once } from 'node:events'
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { createSecureServer, type ServerHttp2Session, type ServerHttp2Stream, type Settings } from 'node:http2'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { systemClock, VirtualClock } from '@kubewright/base'
import { CertificateAuthority } from '@kubewright/base/pki'
import { afterEach, describe, expect, test } from 'vitest'
import { transportContract } from '../contract.ts'
import { listenForTest, testIdentity, tlsTransport } from '../testdata/test-server.ts'
import { type HttpTransportOptions, httpTransport } from './http-transport.ts'
import type { Transport } from './transport.ts'

/** The default of one second is too short for a busy machine. */
const patient = { timeout: 60_000 }

transportContract('httpTransport() over HTTP/2', test, (handler) => tlsTransport(handler))
transportContract('httpTransport() over HTTP/1.1', test, (handler) => tlsTransport(handler, { http2: false }))

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

function opened(options: HttpTransportOptions): Transport {
  const transport = httpTransport(options)
  cleanups.push(() => transport[Symbol.asyncDispose]())
  return transport
}

async function plainServer(listener: RequestListener): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createHttpServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

async function tlsServer(): Promise<{ readonly url: string; readonly port: number }> {
  const listener = await listenForTest(async ({ peer }) => ({
    status: 200,
    headers: {},
    body: Buffer.from(peer.certificate?.commonName ?? 'nobody'),
  }))
  cleanups.push(() => listener[Symbol.asyncDispose]())
  return { url: `https://127.0.0.1:${listener.port}`, port: listener.port }
}

async function get(transport: Transport): Promise<string> {
  const { body } = await transport.send({ method: 'GET', path: '/' })
  return Buffer.from(await body.bytes()).toString()
}

async function http2Server(
  settings: Settings,
  answer: (stream: ServerHttp2Stream) => void,
): Promise<{ readonly url: string; readonly sessions: Set<ServerHttp2Session> }> {
  const { serving } = testIdentity()
  const server = createSecureServer({ cert: serving.cert, key: serving.key, settings })
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
  })
  server.on('stream', (stream) => {
    stream.on('error', () => undefined)
    answer(stream)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanups.push(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, sessions }
}

describe('httpTransport()', () => {
  test('prepends the path of the server to that of a request', async () => {
    const { url } = await plainServer((request, response) => void response.end(request.url))
    expect(await get(opened({ server: `${url}/k8s/clusters/c-1/` }))).toBe('/k8s/clusters/c-1/')
  })

  test('decompresses complete and streamed bodies', async () => {
    const { url } = await plainServer((request, response) => {
      expect(request.headers['accept-encoding']).toBe('gzip')
      response.setHeader('content-encoding', 'gzip').end(gzipSync('a'.repeat(100_000)))
    })
    const transport = opened({ server: url })
    expect(await get(transport)).toBe('a'.repeat(100_000))
    const { body } = await transport.send({ method: 'GET', path: '/' })
    let size = 0
    for await (const chunk of body) size += chunk.length
    expect(size).toBe(100_000)
  })

  test('uses the client certificate, and a new one as soon as it changes', async () => {
    const { url } = await tlsServer()
    const { ca, admin } = testIdentity()
    let material: object = { ca: ca.cert }
    const transport = opened({ server: url, tls: () => material })
    expect(await get(transport)).toBe('nobody')
    material = { ca: ca.cert, cert: admin.cert, key: admin.key }
    expect(await get(transport)).toBe('kubernetes-admin')
  })

  test('rejects a server certificate of an unknown CA unless insecure', async () => {
    const { url } = await tlsServer()
    await expect(get(opened({ server: url }))).rejects.toThrow(
      `${url}: the server's certificate is signed by an unknown authority; check certificate-authority of the cluster`,
    )
    const careless = { insecure: true }
    expect(await get(opened({ server: url, tls: () => careless }))).toBe('nobody')
  })

  test('verifies the certificate against tls-server-name', async () => {
    const { url } = await tlsServer()
    const { ca } = testIdentity()
    const good = { ca: ca.cert, serverName: 'kubernetes.default.svc' }
    expect(await get(opened({ server: url, tls: () => good }))).toBe('nobody')
    const bad = { ca: ca.cert, serverName: 'other.example.com' }
    await expect(get(opened({ server: url, tls: () => bad }))).rejects.toMatchObject({
      code: 'KW_CONNECTION',
      host: url,
      attempt: 1,
      cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    })
  })

  test('rejects a server certificate that has its name as common name only', async () => {
    const { ca } = testIdentity()
    const validity = { notBefore: systemClock.now() - 1000, notAfter: systemClock.now() + 60_000 }
    const legacy = new CertificateAuthority(ca).issue({
      subject: { commonName: 'legacy.example.com' },
      usages: ['serverAuth'],
      ...validity,
    })
    const server = createTlsServer(legacy).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const material = { ca: ca.cert, serverName: 'legacy.example.com' }
    await expect(get(opened({ server: `https://127.0.0.1:${port}`, tls: () => material }))).rejects.toThrow(
      'x509: certificate relies on legacy Common Name field, use SANs instead',
    )
    server.close()
  })

  test('connects through a proxy with credentials', async () => {
    const { url, port } = await tlsServer()
    const seen: unknown[] = []
    const proxy = await plainServer(() => undefined)
    proxy.server.on('connect', (request, socket: Socket) => {
      seen.push([request.url, request.headers['proxy-authorization']])
      const target = connect(port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
        target.pipe(socket).pipe(target)
      })
      cleanups.push(() => target.destroy())
    })
    const material = { ca: testIdentity().ca.cert }
    const withCredentials = proxy.url.replace('//', '//ada:s%3Acret@')
    expect(await get(opened({ server: url, tls: () => material, proxy: withCredentials }))).toBe('nobody')
    expect(seen).toEqual([[`127.0.0.1:${port}`, `Basic ${Buffer.from('ada:s:cret').toString('base64')}`]])
  })

  test('reports a proxy that rejects the connection', async () => {
    const proxy = await plainServer(() => undefined)
    proxy.server.on('connect', (_, socket: Socket) => void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'))
    const transport = opened({ server: 'https://k8s.example.com', proxy: proxy.url })
    const host = proxy.url.slice('http://'.length)
    await expect(get(transport)).rejects.toThrow(
      `https://k8s.example.com: proxy ${host} refused to connect to k8s.example.com:443: 403 Forbidden`,
    )
  })

  test('reports a refused connection with its host and its cause', async () => {
    const { url, server } = await plainServer(() => undefined)
    server.close()
    await once(server, 'close')
    const error = await get(opened({ server: url })).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'KW_CONNECTION', host: url, isBroken: false, cause: { code: 'ECONNREFUSED' } })
  })

  test('reports an incomplete body', async () => {
    const { url } = await plainServer((_, response) => {
      response.writeHead(200, { 'content-length': '100' }).write('half', () => response.destroy())
    })
    const transport = opened({ server: url })
    await expect(get(transport)).rejects.toMatchObject({ code: 'KW_CONNECTION', isBroken: true })
    const { body } = await transport.send({ method: 'GET', path: '/' })
    const reading = (async () => {
      for await (const _ of body);
    })()
    await expect(reading).rejects.toMatchObject({ code: 'KW_CONNECTION', isBroken: true })
  })

  test('opens a new connection after the server closed the old one', async () => {
    const { url, server } = await plainServer((_, response) => void response.end('ok'))
    const transport = opened({ server: url })
    expect(await get(transport)).toBe('ok')
    server.closeAllConnections()
    await new Promise((resolve) => setImmediate(resolve))
    expect(await get(transport)).toBe('ok')
  })

  test('uses one HTTP/2 connection, and more where the server limits concurrent streams', async () => {
    const waiting: (() => void)[] = []
    const { sessions, url } = await http2Server({ maxConcurrentStreams: 2 }, (stream) => {
      waiting.push(() => {
        stream.respond({ ':status': 200 })
        stream.end('ok')
      })
      if (waiting.length === 5) for (const answer of waiting.splice(0)) answer()
    })
    const material = { ca: testIdentity().ca.cert }
    const transport = opened({ server: url, tls: () => material })
    // Wait until the settings of the server are known.
    waiting.length = 4
    waiting.fill(() => undefined)
    expect(await get(transport)).toBe('ok')
    expect(sessions.size).toBe(1)
    expect(await Promise.all(Array.from({ length: 5 }, () => get(transport)))).toEqual(Array(5).fill('ok'))
    expect(sessions.size).toBe(3)
  })

  test('opens a new HTTP/2 connection after a restart of the server', async () => {
    const { sessions, url } = await http2Server({}, (stream) => {
      stream.respond({ ':status': 200 })
      stream.end('ok')
    })
    const material = { ca: testIdentity().ca.cert }
    const transport = opened({ server: url, tls: () => material })
    expect(await get(transport)).toBe('ok')
    const [first] = sessions
    first?.destroy()
    await once(first as EventEmitter, 'close')
    await expect.poll(() => get(transport).catch(() => 'not yet'), patient).toBe('ok')
    expect(sessions.size).toBe(1)
  })

  test('rejects when the server resets an HTTP/2 stream', async () => {
    const { url } = await http2Server({}, (stream) => {
      stream.respond({ ':status': 200 })
      stream.write('half', () => stream.destroy(new Error('the power went out')))
    })
    const material = { ca: testIdentity().ca.cert }
    await expect(get(opened({ server: url, tls: () => material }))).rejects.toMatchObject({
      code: 'KW_CONNECTION',
      isBroken: true,
    })
  })

  test('detects an HTTP/2 connection whose peer stopped responding', async () => {
    const { url } = await tlsServer()
    const between: Socket[] = []
    // A link that can be cut without either end noticing.
    const wire = createServer((socket) => {
      const onward = connect(Number(new URL(url).port), '127.0.0.1')
      socket.pipe(onward).pipe(socket)
      between.push(socket, onward)
    })
    wire.listen(0, '127.0.0.1')
    await once(wire, 'listening')
    cleanups.push(() => {
      for (const socket of between) socket.destroy()
      wire.close()
    })
    const clock = new VirtualClock()
    const material = { ca: testIdentity().ca.cert }
    const server = `https://127.0.0.1:${(wire.address() as AddressInfo).port}`
    const transport = opened({ server, tls: () => material, clock })
    expect(await get(transport)).toBe('nobody')
    for (const socket of between) socket.unpipe().pause()
    const silent = get(transport).catch((error: unknown) => error)
    // The request is sent in later turns of the event loop. Only then does the health check start.
    await expect.poll(() => clock.pending.length, patient).toBeGreaterThan(0)
    await clock.advance('45s')
    expect(await silent).toMatchObject({ code: 'KW_CONNECTION', host: server, isBroken: true })
  })
})
