import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2'
import { connect, TLSSocket } from 'node:tls'
import type { ApiRequest, ApiResponse } from '@kubewright/api'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createServerIdentity } from '../../server-identity.ts'
import { type Listener, listen } from './listener.ts'

const identity = createServerIdentity(Date.UTC(2026, 0, 2))
let listener: Listener
let endWatch: () => void
beforeAll(async () => {
  listener = await listen({
    handler: async ({ path }) =>
      path === '/watch'
        ? {
            status: 200,
            headers: {},
            body: async () => new Promise<void>((resolve) => (endWatch = resolve)),
          }
        : { status: 200, headers: { 'content-length': '2' }, body: Buffer.from('ok') },
    cert: identity.serving.cert,
    key: identity.serving.key,
    clientCas: [identity.ca.cert],
    limits: { idleTimeout: 60 },
  })
})
afterAll(() => listener[Symbol.asyncDispose]())

describe('listen() closes idle connections', () => {
  test('of HTTP/1.1 after the response', async () => {
    const socket = connect({ port: listener.port, host: listener.host, rejectUnauthorized: false })
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await once(socket, 'close')
    expect(text.split('\r\n')).toEqual(expect.arrayContaining(['HTTP/1.1 200 OK', 'ok']))
  })

  test('of HTTP/2 unless a stream is open', async () => {
    const session = connectHttp2(`https://${listener.host}:${listener.port}`, { rejectUnauthorized: false })
    const watch = session.request({ ':path': '/watch' })
    await once(watch, 'response')
    // Another connection is opened and closed as idle in the meantime.
    const other = connectHttp2(`https://${listener.host}:${listener.port}`, { rejectUnauthorized: false })
    await once(other, 'close')
    expect(session.closed).toBe(false)
    watch.resume()
    endWatch()
    await once(session, 'close')
  })
})

test.each(['h2', 'http/1.1'])('listen() lets no response over %s wait for an acknowledgement', async (protocol) => {
  const setNoDelay = vi.spyOn(TLSSocket.prototype, 'setNoDelay')
  const { host, port } = listener
  const socket = connect({ host, port, rejectUnauthorized: false, ALPNProtocols: [protocol] })
  // The server closes the connection because it is idle.
  await once(socket.resume(), 'close')
  expect(setNoDelay.mock.contexts.map((each) => (each as TLSSocket).alpnProtocol)).toContain(protocol)
  expect(setNoDelay).toHaveBeenCalledWith(true)
  setNoDelay.mockRestore()
})

describe('listen() refuses malformed requests of HTTP/1.1', () => {
  const refusal =
    'HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n400 Bad Request'
  const exchange = async (sent: string): Promise<string> => {
    const socket = connect({ port: listener.port, host: listener.host, rejectUnauthorized: false })
    socket.write(sent)
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await once(socket, 'close')
    return text
  }

  test('with the response of Go', async () => {
    expect(await exchange('{"kind":"DeleteOptions"}\r\n\r\n')).toBe(refusal)
  })

  test.each([
    ['no Host', '', '400 Bad Request: missing required Host header'],
    ['two', 'Host: a\r\nHost: b\r\n', '400 Bad Request: too many Host headers'],
  ])('with %s', async (_, hosts, problem) => {
    const text = await exchange(`GET / HTTP/1.1\r\n${hosts}\r\n`)
    expect(text).toMatch(/^HTTP\/1.1 400 Bad Request\r\n/)
    expect(text).toContain(problem)
    expect(await exchange(`GET / HTTP/1.0\r\n\r\n`)).toContain('200 OK')
  })

  test('after the responses to complete requests in front of them', async () => {
    const requests = ['GET', 'DELETE'].map((method) => `${method} / HTTP/1.1\r\nHost: x\r\n\r\n`)
    const text = await exchange(`${requests.join('')}{"kind":"DeleteOptions"}`)
    expect(text.match(/HTTP\/1.1 200 OK/g)).toHaveLength(2)
    expect(text.endsWith(`ok${refusal}`)).toBe(true)
  })

  test('without a second response when the body of a request is malformed', async () => {
    const text = await exchange('POST /watch HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnone\r\n')
    expect(text.match(/HTTP\/1.1/g)).toHaveLength(1)
  })
})

describe('listen() serves HTTP/2', () => {
  let answer: (request: ApiRequest) => Promise<ApiResponse>
  let server: Listener
  let session: ClientHttp2Session
  const ok: ApiResponse = { status: 200, headers: { 'content-length': '2' }, body: Buffer.from('ok') }

  beforeEach(async () => {
    server = await listen({
      handler: (request) => answer(request),
      cert: identity.serving.cert,
      key: identity.serving.key,
      clientCas: [identity.ca.cert],
    })
    session = connectHttp2(`https://${server.host}:${server.port}`, { rejectUnauthorized: false })
  })
  afterEach(async () => {
    session.destroy()
    await server[Symbol.asyncDispose]()
  })

  async function send(headers: OutgoingHttpHeaders, body = ''): Promise<{ status: number; text: string }> {
    const stream = session.request(headers, { endStream: body === '' })
    if (body !== '') stream.end(body)
    let text = ''
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    const ended = once(stream, 'close')
    const [answered] = (await once(stream, 'response')) as [Record<string, unknown>]
    await ended
    return { status: Number(answered[':status']), text }
  }

  test('and passes path, query, headers and body to the handler', async () => {
    let seen: unknown
    answer = async ({ method, path, query, headers, body, peer }) => {
      const text = Buffer.from(await body(100)).toString()
      seen = { method, path, query: [...query], 'x-a': headers['x-a'], cookies: headers['set-cookie'], text, ...peer }
      return ok
    }
    const headers = { ':method': 'POST', ':path': '/p?a=b', 'x-a': ['1', '2'], 'set-cookie': ['c', 'd'] }
    expect(await send(headers, 'body')).toEqual({ status: 200, text: 'ok' })
    const query = [['a', 'b']]
    expect(seen).toEqual({
      method: 'POST',
      path: '/p',
      query,
      'x-a': '1, 2',
      cookies: 'c, d',
      text: 'body',
      address: '127.0.0.1',
    })
  })

  test('and omits headers of HTTP/1.1 connections', async () => {
    answer = async () => ({ ...ok, headers: { connection: 'close', 'transfer-encoding': 'chunked' } })
    expect(await send({ ':path': '/' })).toEqual({ status: 200, text: 'ok' })
  })

  test.each([
    ['HEAD', 200],
    ['GET', 304],
    ['GET', 204],
  ])('without a body for %s and status %i', async (method, status) => {
    answer = async () => ({ status, headers: {}, body: Buffer.from('ok') })
    expect(await send({ ':method': method, ':path': '/' })).toEqual({ status, text: '' })
  })

  test('and responds when the handler does not read the body', async () => {
    answer = async () => ok
    expect(await send({ ':method': 'POST', ':path': '/' }, 'x'.repeat(300_000))).toEqual({ status: 200, text: 'ok' })
  })

  test('and supports Expect: 100-continue but no other expectation', async () => {
    answer = async ({ body }) => ({ ...ok, body: await body(100), headers: {} })
    const stream = session.request({ ':method': 'POST', ':path': '/', expect: '100-continue' })
    await once(stream, 'continue')
    stream.end('later')
    const [chunk] = (await once(stream, 'data')) as [Buffer]
    expect(chunk.toString()).toBe('later')
    expect((await send({ ':path': '/', expect: 'more' })).status).toBe(417)
    expect((await send({ ':method': 'CONNECT', ':authority': 'a:1' })).status).toBe(405)
  })

  test('and aborts the signal of a stream when its client disconnects', async () => {
    const gone = new Promise<void>((resolve) => {
      answer = async ({ signal }) => ({
        status: 200,
        headers: {},
        body: async (sink) => {
          sink.write(Buffer.from('first'))
          await once(signal, 'abort')
          resolve()
        },
      })
    })
    const stream = session.request({ ':path': '/watch' })
    await once(stream, 'data')
    stream.close()
    await gone
  })

  test('and resets a stream when its body fails', async () => {
    answer = async () => ({ status: 200, headers: {}, body: () => Promise.reject(new Error('broken')) })
    const stream = session.request({ ':path': '/' })
    stream.on('error', () => undefined)
    await once(stream, 'close')
    answer = async () => ok
    expect((await send({ ':path': '/' })).status).toBe(200)
  })
})
