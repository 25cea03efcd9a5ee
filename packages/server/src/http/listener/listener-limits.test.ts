import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import type { Duplex } from 'node:stream'
import { connect, type TLSSocket } from 'node:tls'
import { ApiError, type ApiHandler, type ApiResponse } from '@kubewright/api'
import { type Clock, VirtualClock } from '@kubewright/base'
import { afterEach, describe, expect, test } from 'vitest'
import { createServerIdentity } from '../../server-identity.ts'
import { type Listener, type ListenLimits, listen } from './listener.ts'

const identity = createServerIdentity(Date.UTC(2026, 0, 2))
const ok: ApiResponse = { status: 200, headers: {}, body: Buffer.from('ok') }
const large = Buffer.alloc(1024 * 1024, 'x')
let clock: VirtualClock
let listener: Listener
let session: ClientHttp2Session | undefined

afterEach(async () => {
  session?.destroy()
  session = undefined
  await listener[Symbol.asyncDispose]()
})

async function serve(handler: ApiHandler, limits: ListenLimits = {}): Promise<void> {
  clock = new VirtualClock({ start: 0 })
  const { serving, ca } = identity
  const common = { cert: serving.cert, key: serving.key, clientCas: [ca.cert] }
  listener = await listen({ handler, ...common, clock: clock as Clock, limits })
}

/** A client whose streams accept `window` bytes until it reads. */
function connectWindow(window: number): ClientHttp2Session {
  session = connectHttp2(`https://${listener.host}:${listener.port}`, {
    rejectUnauthorized: false,
    settings: { initialWindowSize: window },
  })
  return session
}

async function rawSocket(protocol: string): Promise<TLSSocket> {
  const { host, port } = listener
  const socket = connect({ host, port, rejectUnauthorized: false, ALPNProtocols: [protocol] })
  socket.on('error', () => undefined)
  socket.resume()
  await once(socket, 'secureConnect')
  return socket
}

/** Lets time pass until the client notices that its stream or connection is closed. */
async function untilClosed(client: Duplex): Promise<void> {
  client.on('error', () => undefined)
  for (let i = 0; i < 1000 && !client.closed; i++) {
    await clock.advance(10_000)
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  expect(client.closed).toBe(true)
}

describe('listen() with unread responses', () => {
  test('resets an HTTP/2 stream whose client reads nothing until the timeout', async () => {
    let sent = 0
    await serve(async ({ onSent }) => {
      onSent!(() => sent++)
      return { ...ok, body: large }
    })
    const stream = connectWindow(0).request({ ':path': '/' })
    await once(stream, 'response')
    await clock.advance(20_000)
    expect(sent).toBe(0)
    await untilClosed(stream)
    expect(stream.rstCode).not.toBe(0)
    expect(sent).toBe(1)
  })

  test('stops writing a streamed body after a few pieces when the client does not read', async () => {
    let written = 0
    let ended = false
    await serve(async ({ signal }) => ({
      ...ok,
      body: async (sink) => {
        while (!signal.aborted) {
          written++
          if (!sink.write(large.subarray(0, 65_536))) await sink.drained()
        }
        ended = true
      },
    }))
    const stream = connectWindow(0).request({ ':path': '/' })
    await once(stream, 'response')
    await untilClosed(stream)
    expect({ written, ended }).toEqual({ written: 1, ended: true })
  })

  test('closes an HTTP/1.1 connection whose client does not read', async () => {
    // More than the buffers of both sockets hold.
    const huge = Buffer.alloc(64 * 1024 * 1024)
    let sent = 0
    await serve(async ({ onSent }) => {
      onSent!(() => sent++)
      return { ...ok, body: huge }
    })
    const socket = await rawSocket('http/1.1')
    socket.pause()
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    // A paused socket notices the end of the connection only when it is read.
    for (let i = 0; i < 1000 && sent === 0; i++) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      await clock.advance(10_000)
    }
    let bytes = 0
    socket.on('data', (chunk: Buffer) => (bytes += chunk.length))
    socket.resume()
    await untilClosed(socket)
    expect(sent).toBe(1)
    expect(bytes).toBeLessThan(huge.length)
  })

  test('sends large bodies completely to clients that read', async () => {
    let sent = 0
    await serve(async ({ onSent }) => {
      onSent!(() => sent++)
      return { ...ok, body: large }
    })
    const stream = connectWindow(1000).request({ ':path': '/' })
    const chunks: Buffer[] = []
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    await once(stream, 'close')
    expect(Buffer.concat(chunks).equals(large)).toBe(true)
    expect(sent).toBe(1)
  })

  test('keeps streams that have no bytes to send', async () => {
    let write: () => void = () => undefined
    await serve(async () => ({
      ...ok,
      body: (sink) =>
        new Promise((resolve) => {
          write = () => {
            sink.write(Buffer.from('event'))
            resolve()
          }
        }),
    }))
    const stream = connectWindow(1000).request({ ':path': '/' })
    await once(stream, 'response')
    await clock.advance(600_000)
    write()
    let text = ''
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await once(stream, 'close')
    expect(text).toBe('event')
  })
})

describe('listen() limits connections', () => {
  test('closes an HTTP/2 connection whose header block never ends', async () => {
    await serve(async () => ok)
    const socket = await rawSocket('h2')
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    socket.write(Buffer.from('000000040000000000', 'hex'))
    // HEADERS of stream 1 with one byte, `:method: GET`, and without END_HEADERS.
    socket.write(Buffer.from('00000101000000000182', 'hex'))
    await once(socket, 'data')
    await untilClosed(socket)
  })

  test('closes an HTTP/1.1 connection whose header never ends', async () => {
    await serve(async () => ok)
    const socket = await rawSocket('http/1.1')
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n')
    await untilClosed(socket)
  })

  test('closes a stream whose client never ends the request body after the response', async () => {
    await serve(async () => ok)
    const stream = connectWindow(1000).request({ ':method': 'POST', ':path': '/' }, { endStream: false })
    stream.resume()
    await once(stream, 'end')
    expect(stream.closed).toBe(false)
    await untilClosed(stream)
  })

  test('announces the limit of concurrent streams to HTTP/2 clients', async () => {
    await serve(async () => ok, { streamsPerConnection: 7 })
    const [settings] = (await once(connectWindow(1000), 'remoteSettings')) as [{ maxConcurrentStreams: number }]
    expect(settings.maxConcurrentStreams).toBe(7)
  })

  test('refuses connections over the limit', async () => {
    await serve(async () => ok, { connections: 1 })
    const first = await rawSocket('http/1.1')
    const second = connect({ host: listener.host, port: listener.port, rejectUnauthorized: false })
    await untilClosed(second)
    first.destroy()
  })

  test('refuses large headers', async () => {
    await serve(async () => ok)
    const socket = await rawSocket('http/1.1')
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    socket.write(`GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`)
    await once(socket, 'close')
    expect(text.split('\r\n')[0]).toBe('HTTP/1.1 431 Request Header Fields Too Large')
    const stream = connectWindow(1000).request({ ':path': '/', 'x-large': 'x'.repeat(100_000) })
    await untilClosed(stream)
    expect(stream.rstCode).not.toBe(0)
  })

  test.each([
    ['headerBytes', { headerBytes: 1000 }, { 'x-a': 'x'.repeat(2000) }],
    ['headers', { headers: 10 }, Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`x-${i}`, 'x']))],
  ])('%s limits the headers of an HTTP/2 request', async (_, limits, headers) => {
    await serve(async () => ok, limits)
    const client = connectWindow(1000)
    const [answer] = (await once(client.request({ ':path': '/' }), 'response')) as [{ ':status': number }]
    expect(answer[':status']).toBe(200)
    const refused = client.request({ ':path': '/', ...headers })
    await untilClosed(refused)
    expect(refused.rstCode).not.toBe(0)
  })
})

describe('listen() with request bodies', () => {
  const reading: ApiHandler = async ({ body }) => ({ ...ok, body: Buffer.from(String((await body(3_000_000)).length)) })

  test('closes an HTTP/1.1 connection that sends one byte per chunk', async () => {
    await serve(reading)
    const socket = await rawSocket('http/1.1')
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
    for (let i = 0; i < 10 && !socket.destroyed; i++) socket.write('1\r\na\r\n'.repeat(1000))
    await once(socket, 'close')
  })

  test('answers 429 to bodies for which there is no room, and accepts them later', async () => {
    const release: (() => void)[] = []
    await serve(
      async (request) => {
        const received = await request.body(3_000_000).catch((error: unknown) => error as ApiError)
        if (received instanceof ApiError) return { ...ok, status: received.statusCode }
        await new Promise<void>((resolve) => release.push(resolve))
        return ok
      },
      { connectionBodyBytes: 1000 },
    )
    const client = connectWindow(65_535)
    const send = async (): Promise<number> => {
      const stream = client.request({ ':method': 'POST', ':path': '/' })
      stream.end(Buffer.alloc(600))
      const [headers] = (await once(stream, 'response')) as [{ ':status': number }]
      stream.resume()
      return headers[':status']
    }
    const first = send()
    while (release.length === 0) await new Promise<void>((resolve) => setImmediate(resolve))
    expect(await send()).toBe(429)
    release.shift()!()
    expect(await first).toBe(200)
    const third = send()
    while (release.length === 0) await new Promise<void>((resolve) => setImmediate(resolve))
    release.shift()!()
    expect(await third).toBe(200)
  })
})

test('listen() sends a complete large response to a request with upgrade headers that nothing upgrades', async () => {
  await serve(async () => ({
    ...ok,
    body: async (sink) => {
      for (let i = 0; i < 5; i++) {
        sink.write(large)
        await sink.drained()
      }
    },
  }))
  const socket = await rawSocket('http/1.1')
  let received = 0
  socket.on('data', (chunk: Buffer) => (received += chunk.length))
  socket.write('GET /api HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  await once(socket, 'close')
  expect(received).toBeGreaterThan(5 * large.length)
})
