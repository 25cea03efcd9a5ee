import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { Agent, type RequestOptions, request } from 'node:https'
import { createServer } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { Deferred, nullLogger } from '@kubewright/base'
import { CertificateAuthority } from '@kubewright/base/pki'
import { describe, expect, onTestFinished, test } from 'vitest'
import { certificateSource } from '../serving/http/certificate-source.ts'
import { maxReviewBytes } from './admission/admission-review.ts'
import { type ServedWebhooks, type ServeWebhooksOptions, serveWebhooks } from './serve-webhooks.ts'
import { startWebhooks, webhookRunnable } from './start-webhooks.ts'
import { noClient } from './testdata/ask.ts'
import type { WebhookHandler } from './webhook-request.ts'

const now = Date.now()
const ca = CertificateAuthority.create({ commonName: 'ca', now })
const authority = new CertificateAuthority(ca)
const issue = () => authority.issueServing({ now })

const echo: WebhookHandler = async ({ method, path, headers, body }) => ({
  status: 201,
  headers: { 'content-type': ['text/plain'] },
  body: Buffer.from(`${method} ${path} ${String(headers['content-type'])} ${body.length}`),
})

async function start(options: Partial<ServeWebhooksOptions> = {}): Promise<ServedWebhooks> {
  const certificate = certificateSource(issue())
  const served = await serveWebhooks({ handler: echo, certificate, port: 0, host: '127.0.0.1', ...options })
  onTestFinished(() => {
    served.close()
    return served[Symbol.asyncDispose]()
  })
  return served
}

async function post(port: number, body: string | Uint8Array, options: RequestOptions = {}) {
  const headers = { 'content-type': 'application/json' }
  const sent = request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: '/x?y=1',
    headers,
    ca: ca.cert,
    agent: false,
    ...options,
  })
  sent.end(body)
  const [response] = await once(sent, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, headers: response.headers, text: Buffer.concat(chunks).toString() }
}

/** Like {@link post}, over HTTP/2. The session stays open. */
async function post2(port: number, body: string): Promise<{ text: string }> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca: ca.cert })
  onTestFinished(() => session.destroy())
  const stream = session.request({ ':method': 'POST', ':path': '/two', 'content-type': 'application/json' })
  stream.end(body)
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  return { text }
}

async function shownBy(port: number): Promise<string> {
  const socket: TLSSocket = connect({ host: '127.0.0.1', port, ca: ca.cert })
  await once(socket, 'secureConnect')
  const { raw } = socket.getPeerCertificate()
  socket.destroy()
  return new X509Certificate(raw).serialNumber
}

describe('serveWebhooks()', () => {
  test('passes requests to the handler and returns its responses', async () => {
    const { port, health } = await start()
    expect(await post(port, '{}')).toMatchObject({ status: 201, text: 'POST /x?y=1 application/json 2' })
    expect(health.check(new AbortController().signal)).toBeUndefined()
  })

  test('responds before the end of a body that is too long, and stops reading it', async () => {
    const { port } = await start()
    const headers = { 'content-type': 'application/json', 'content-length': String(2 * maxReviewBytes) }
    const sent = request({ host: '127.0.0.1', port, method: 'POST', headers, ca: ca.cert, agent: false })
    sent.on('error', () => undefined)
    sent.write(new Uint8Array(maxReviewBytes + 1))
    const [response] = await once(sent, 'response')
    expect(response.headers.connection).toBe('close')
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    expect(Buffer.concat(chunks).toString()).toContain(`request entity is too large; limit is ${maxReviewBytes} bytes`)
    sent.destroy()
  })

  test('responds to a path without a webhook before its body arrives', async () => {
    const { port } = await start({
      handler: Object.assign(echo.bind(undefined), { serves: (path: string) => path === '/known' }),
    })
    const headers = { 'content-length': '1000' }
    const sent = request({
      host: '127.0.0.1',
      port,
      path: '/other',
      method: 'POST',
      headers,
      ca: ca.cert,
      agent: false,
    })
    sent.on('error', () => undefined)
    sent.flushHeaders()
    const [response] = await once(sent, 'response')
    expect(response.statusCode).toBe(404)
    sent.destroy()
  })

  test('disconnects a client that sends its body in one-byte chunks', async () => {
    const { port } = await start()
    const socket = connect({ host: '127.0.0.1', port, ca: ca.cert, servername: 'localhost', rejectUnauthorized: false })
    socket.on('error', () => undefined)
    socket.resume()
    await once(socket, 'secureConnect')
    socket.write('POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (let i = 0; i < 10 && !socket.destroyed; i++) socket.write('1\r\na\r\n'.repeat(1000))
    await once(socket, 'close')
  })

  test('uses a new certificate from the next connection on', async () => {
    const [first, second] = [issue(), issue()]
    const certificate = certificateSource(first)
    const { port } = await start({ certificate })
    expect(await shownBy(port)).toBe(new X509Certificate(first.cert).serialNumber)
    certificate.replace(second)
    expect(await shownBy(port)).toBe(new X509Certificate(second.cert).serialNumber)
    certificate.replace({ cert: first.cert, key: second.key })
    expect(await shownBy(port)).toBe(new X509Certificate(second.cert).serialNumber)
  })

  test('requires client certificates with clientCa', async () => {
    const { port } = await start({ clientCa: ca.cert })
    await expect(post(port, '{}')).rejects.toThrow()
    const mine = authority.issueClient({ commonName: 'kube-apiserver', now })
    expect(await post(port, '{}', mine)).toMatchObject({ status: 201 })
  })

  test('offers HTTP/2 with http2', async () => {
    const { port } = await start({ http2: true })
    expect(await post(port, '{}')).toMatchObject({ status: 201 })
    expect(await post2(port, '{}')).toEqual({ text: 'POST /two application/json 2' })
  })

  test('aborts the signal when the client disconnects', async () => {
    const gone = new Deferred<void>()
    const received = new Deferred<void>()
    const { port } = await start({
      handler: async ({ signal }) => {
        signal?.addEventListener('abort', () => gone.resolve(), { once: true })
        received.resolve()
        await gone.promise
        return { status: 200, headers: {}, body: Buffer.alloc(0) }
      },
    })
    const sent = request({ host: '127.0.0.1', port, method: 'POST', ca: ca.cert, agent: false })
    sent.on('error', () => undefined)
    sent.end('{}')
    await received.promise
    sent.destroy()
    await gone.promise
  })

  test.each([false, true])(
    'waits for open requests when disposed, although connections stay open (HTTP/2: %s)',
    async (http2) => {
      const received = new Deferred<void>()
      const go = new Deferred<void>()
      const served = await start({
        http2,
        handler: async () => {
          received.resolve()
          await go.promise
          return { status: 200, headers: {}, body: Buffer.from('done') }
        },
      })
      const agent = new Agent({ keepAlive: true })
      onTestFinished(() => agent.destroy())
      const answer = http2 ? post2(served.port, '{}') : post(served.port, '{}', { agent })
      await received.promise
      const disposed = served[Symbol.asyncDispose]()
      expect(() => served.health.check(new AbortController().signal)).toThrow('webhook server has not been started yet')
      go.resolve()
      expect(await answer).toMatchObject({ text: 'done' })
      await disposed
    },
  )

  test('close() aborts open requests', async () => {
    const received = new Deferred<void>()
    const served = await start({
      handler: ({ signal }) => {
        received.resolve()
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
      },
    })
    const answer = post(served.port, '{}')
    await received.promise
    const disposed = served[Symbol.asyncDispose]()
    served.close()
    await expect(answer).rejects.toThrow('socket hang up')
    await disposed
  })

  test('does not wait for connections without a request', async () => {
    const served = await start()
    const socket = connect({ host: '127.0.0.1', port: served.port, ca: ca.cert })
    await once(socket, 'secureConnect')
    // The server has accepted the connection when it has answered a later one.
    await post(served.port, 'x')
    const closed = once(socket, 'close')
    socket.resume()
    await served[Symbol.asyncDispose]()
    await closed
  })

  test('names the fix when the port is in use', async () => {
    const other = createServer()
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as { port: number }
    await expect(start({ port })).rejects.toMatchObject({
      code: 'KW_LISTEN',
      message: `Cannot serve webhooks at 127.0.0.1:${port} as that address is in use: choose another port with --webhook-port`,
    })
  })
})

describe('webhookRunnable()', () => {
  test('is ready when it listens, and ends when it is drained', async () => {
    const opened = new Deferred<ServeWebhooksOptions>()
    let closed = 0
    const runnable = webhookRunnable(
      { name: 'o', webhooks: [] },
      {
        client: noClient,
        certificate: certificateSource(issue()),
        listen: async (options) => {
          opened.resolve(options)
          return {
            port: 7,
            health: { name: 'webhook', check: () => undefined },
            close: () => undefined,
            [Symbol.asyncDispose]: async () => void closed++,
          }
        },
      },
    )
    expect(runnable).toMatchObject({ phase: 'webhook', announcesReady: true })
    const drain = new AbortController()
    const ready = new Deferred<void>()
    const context = {
      // The webhook server has its own client.
      cluster: undefined as never,
      drain: drain.signal,
      abort: new AbortController().signal,
      log: nullLogger,
      ready: () => ready.resolve(),
    }
    const run = runnable.run(context)
    await ready.promise
    const { handler } = await opened.promise
    expect(await handler({ method: 'POST', path: '/', headers: {}, body: Buffer.alloc(0) })).toMatchObject({
      status: 404,
    })
    expect(closed).toBe(0)
    drain.abort()
    await run
    expect(closed).toBe(1)
  })

  test('fails when there are no certificates', async () => {
    const options = { client: noClient, folder: { dir: '/does/not/exist' } }
    await expect(startWebhooks({ name: 'o', webhooks: [] }, options)).rejects.toMatchObject({ code: 'KW_CERTIFICATE' })
  })
})
