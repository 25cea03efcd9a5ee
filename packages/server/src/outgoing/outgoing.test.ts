import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { CertificateAuthority } from '@kubewright/base/pki'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OutgoingError, type OutgoingRequest, systemOutgoing } from './outgoing.ts'

const now = Date.now()
const day = 24 * 60 * 60 * 1000
const ca = CertificateAuthority.create({ commonName: 'outgoing-ca', now })
const authority = new CertificateAuthority(ca)
const other = CertificateAuthority.create({ commonName: 'other-ca', now })

let server: Server
let connections = 0
let last: Socket
let broken = 0
let port: number
beforeAll(async () => {
  const { cert, key } = authority.issueServing({ now, hosts: ['hook.ns.svc'] })
  server = createServer(
    { cert, key, ca: ca.cert, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      if (request.url === '/break') {
        broken++
        return void request.socket.destroy()
      }
      response.setHeader('x-twice', ['a', 'b'])
      request.resume().once('end', () => response.end(JSON.stringify({ url: request.url, headers: request.headers })))
    },
  )
  server.on('secureConnection', (socket) => {
    connections++
    last = socket
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ;({ port } = server.address() as AddressInfo)
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const request = (more: Partial<OutgoingRequest> & { path?: string } = {}): OutgoingRequest => ({
  method: 'POST',
  url: new URL(`https://127.0.0.1:${port}${more.path ?? '/x?y=1'}`),
  headers: { 'x-group': ['one', 'two'] },
  tls: { ca: ca.cert },
  ...more,
})

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

describe('systemOutgoing()', () => {
  test('sends headers and body and reuses the connection', async () => {
    const before = connections
    for (const body of [undefined, Buffer.from('abc')]) {
      const answer = await systemOutgoing(request({ body }))
      expect([answer.status, answer.headers['x-twice']]).toEqual([200, ['a', 'b']])
      expect(JSON.parse(await textOf(answer.body))).toMatchObject({ url: '/x?y=1', headers: { 'x-group': 'one, two' } })
    }
    expect(connections - before).toBe(1)
  })

  test('verifies the certificate for the URL when connectTo returns another address', async () => {
    const connectTo = async () => ({ host: '127.0.0.1', port })
    const answer = await systemOutgoing(request({ url: new URL('https://hook.ns.svc:443/x'), connectTo }))
    expect(JSON.parse(await textOf(answer.body)).headers.host).toBe('hook.ns.svc')
    await expect(systemOutgoing(request({ url: new URL('https://hook.other.svc/x'), connectTo }))).rejects.toThrow(
      /^tls: failed to verify certificate: x509: certificate is valid for .*hook\.ns\.svc, not hook\.other\.svc$/,
    )
  })

  test('rejects with the error of connectTo', async () => {
    const connectTo = () => Promise.reject(new Error('service "x" not found'))
    await expect(systemOutgoing(request({ connectTo }))).rejects.toThrow('service "x" not found')
  })

  test('accepts any certificate when insecure', async () => {
    const answer = await systemOutgoing(request({ tls: { insecure: true, serverName: 'nobody' } }))
    expect(answer.status).toBe(200)
    await textOf(answer.body)
  })

  test.each([
    ['a CA that did not sign it', { ca: other.cert }],
    ['the CAs of the system', {}],
  ])('rejects a certificate by %s', async (_, tls) => {
    const failure = systemOutgoing(request({ tls }))
    await expect(failure).rejects.toThrow(OutgoingError)
    await expect(failure).rejects.toThrow(
      'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    )
  })

  test('rejects an expired certificate', async () => {
    const old = { usages: ['serverAuth' as const], notBefore: now - 2 * day, notAfter: now - day }
    const { cert, key } = authority.issue({ subject: { commonName: 'old' }, hosts: ['127.0.0.1'], ...old })
    const expired = createServer({ cert, key }).listen(0, '127.0.0.1')
    await once(expired, 'listening')
    const url = new URL(`https://127.0.0.1:${(expired.address() as AddressInfo).port}/`)
    await expect(systemOutgoing(request({ url }))).rejects.toThrow(
      'tls: failed to verify certificate: x509: certificate has expired or is not yet valid',
    )
    expired.close()
  })

  test('rejects with the texts of Go for refused connections, unknown hosts and early close', async () => {
    const url = new URL('https://127.0.0.1:1/')
    await expect(systemOutgoing(request({ url }))).rejects.toThrow('dial tcp 127.0.0.1:1: connect: connection refused')
    await expect(
      systemOutgoing(request({ path: '/break', tls: { ca: ca.cert, serverName: '127.0.0.1' } })),
    ).rejects.toThrow(/^EOF$/)
  })

  test.each([
    ['a POST once', { method: 'POST', body: Buffer.from('abc') }, 1],
    ['a DELETE without a body once', { method: 'DELETE' }, 1],
    ['a GET again', { method: 'GET' }, 2],
  ])('sends %s when a reused connection breaks', async (_, more, times) => {
    await textOf((await systemOutgoing(request())).body)
    const before = broken
    await expect(systemOutgoing(request({ path: '/break', ...more }))).rejects.toThrow(/^EOF$/)
    expect(broken - before).toBe(times)
  })

  test('does not reuse a connection that the peer closed', async () => {
    for (let i = 0; i < 20; i++) {
      await textOf((await systemOutgoing(request({ body: Buffer.from('abc') }))).body)
      const closed = once(last, 'close')
      server.closeIdleConnections()
      await closed
    }
  })

  test('rejects when the peer does not speak TLS', async () => {
    const plain = createHttp().listen(0, '127.0.0.1')
    await once(plain, 'listening')
    const url = new URL(`https://127.0.0.1:${(plain.address() as AddressInfo).port}/`)
    await expect(systemOutgoing(request({ url }))).rejects.toThrow('http: server gave HTTP response to HTTPS client')
    plain.close()
  })

  test('rejects with the reason of its signal', async () => {
    const stop = new AbortController()
    stop.abort(new Error('enough'))
    await expect(systemOutgoing(request({ signal: stop.signal }))).rejects.toThrow('enough')
  })
})
