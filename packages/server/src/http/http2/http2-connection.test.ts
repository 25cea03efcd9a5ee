import { EventEmitter, once } from 'node:events'
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2'
import { connect, type TLSSocket } from 'node:tls'
import type { ApiRequest, ApiResponse } from '@kubewright/api'
import { BodyBudget, systemClock } from '@kubewright/base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createServerIdentity } from '../../server-identity.ts'
import { type Listener, listen } from '../listener/listener.ts'
import { Flusher } from './flusher.ts'
import { Http2Connection } from './http2-connection.ts'
import type { Http2Stream } from './http2-stream.ts'

const identity = createServerIdentity(Date.UTC(2026, 0, 2))
const ok: ApiResponse = { status: 200, headers: {}, body: Buffer.from('ok') }
let listener: Listener
let answer: (request: ApiRequest) => Promise<ApiResponse> = async () => ok
const sessions: ClientHttp2Session[] = []

beforeAll(async () => {
  listener = await listen({
    handler: (request) => answer(request),
    cert: identity.serving.cert,
    key: identity.serving.key,
    clientCas: [identity.ca.cert],
    limits: { streamsPerConnection: 3 },
  })
})
afterAll(async () => {
  for (const session of sessions) session.destroy()
  await listener[Symbol.asyncDispose]()
})

function frame(type: number, flags: number, stream: number, payload: Buffer | string = ''): Buffer {
  const body = typeof payload === 'string' ? Buffer.from(payload, 'hex') : payload
  const head = Buffer.alloc(9)
  head.writeUIntBE(body.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, body])
}

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const settings = frame(4, 0, 0)
/** `:method: GET`, `:scheme: https`, `:path: /`. */
const get = '828784'

interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** Sends bytes on a new connection. Resolves to the frames of the server when it closes the connection, or `until` is satisfied. */
async function exchange(bytes: Buffer[], until: (frame: Frame) => boolean = () => false): Promise<Frame[]> {
  const { host, port } = listener
  const socket: TLSSocket = connect({ host, port, rejectUnauthorized: false, ALPNProtocols: ['h2'] })
  const frames: Frame[] = []
  let rest = Buffer.alloc(0)
  const done = new Promise<void>((resolve) => {
    socket.on('close', () => resolve())
    socket.on('error', () => resolve())
    socket.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      for (;;) {
        if (rest.length < 9) return
        const end = 9 + rest.readUIntBE(0, 3)
        if (rest.length < end) return
        const one = { type: rest[3]!, flags: rest[4]!, stream: rest.readUInt32BE(5), payload: rest.subarray(9, end) }
        frames.push(one)
        rest = rest.subarray(end)
        if (until(one)) resolve()
      }
    })
  })
  await once(socket, 'secureConnect')
  socket.write(Buffer.concat(bytes))
  await done
  socket.destroy()
  return frames
}

describe('Http2Connection ends a connection with a code', () => {
  test.each([
    ['without the preface', 1, [Buffer.from('GET / HTTP/1.1\r\n\r\n-----------')]],
    ['whose first frame is not SETTINGS', 1, [preface, frame(6, 0, 0, '0000000000000000')]],
    ['with a frame that is too long', 6, [preface, settings, frame(0, 0, 1, Buffer.alloc(16_385))]],
    ['with DATA of an idle stream', 1, [preface, settings, frame(0, 0, 1, '00')]],
    ['with HEADERS of an even stream', 1, [preface, settings, frame(1, 5, 2, get)]],
    ['with PUSH_PROMISE', 1, [preface, settings, frame(5, 4, 1, '00000002')]],
    ['with CONTINUATION without HEADERS', 1, [preface, settings, frame(9, 4, 1, get)]],
    [
      'with a frame within a header block',
      1,
      [preface, settings, frame(1, 1, 1, get), frame(6, 0, 0, '0000000000000000')],
    ],
    [
      'with an endless header block',
      11,
      [preface, settings, frame(1, 1, 1, get), ...Array.from({ length: 200 }, () => frame(9, 0, 1))],
    ],
    [
      'with a large header block',
      11,
      [
        preface,
        settings,
        frame(1, 1, 1, get),
        ...Array.from({ length: 5 }, () => frame(9, 0, 1, Buffer.alloc(16_384))),
      ],
    ],
    ['with WINDOW_UPDATE of zero', 1, [preface, settings, frame(8, 0, 0, '00000000')]],
    ['with a window that is too large', 3, [preface, settings, frame(8, 0, 0, '7fffffff')]],
    ['with an initial window that is too large', 3, [preface, frame(4, 0, 0, '000480000000')]],
    ['with SETTINGS of a wrong length', 6, [preface, frame(4, 0, 0, '00')]],
    ['with PING of a wrong length', 6, [preface, settings, frame(6, 0, 0, '00')]],
    ['with an invalid header block', 9, [preface, settings, frame(1, 5, 1, '80')]],
    ['with padding that is longer than the frame', 1, [preface, settings, frame(1, 13, 1, '09828784')]],
    [
      'with a flood of pings',
      11,
      [preface, settings, ...Array.from({ length: 1100 }, () => frame(6, 0, 0, '0000000000000000'))],
    ],
    [
      'with a flood of resets',
      11,
      [
        preface,
        settings,
        ...Array.from({ length: 1100 }, (_, i) =>
          Buffer.concat([frame(1, 5, i * 2 + 1, get), frame(3, 0, i * 2 + 1, '00000008')]),
        ),
      ],
    ],
    [
      'with a flood of malformed headers',
      11,
      [preface, settings, ...Array.from({ length: 1100 }, (_, i) => frame(1, 5, i * 2 + 1, '8287'))],
    ],
    [
      'with a flood of requests that make the server reset them',
      11,
      [
        preface,
        settings,
        ...Array.from({ length: 1100 }, (_, i) =>
          Buffer.concat([frame(1, 5, i * 2 + 1, get), frame(8, 0, i * 2 + 1, '00000000')]),
        ),
      ],
    ],
    [
      'with a flood of headers that are too large',
      11,
      [
        preface,
        settings,
        ...Array.from({ length: 1100 }, (_, i) =>
          frame(1, 5, i * 2 + 1, `${get}${'40016101 62'.replace(' ', '').repeat(200)}`),
        ),
      ],
    ],
    [
      'with a body of one-byte frames',
      11,
      [preface, settings, frame(1, 4, 1, get), ...Array.from({ length: 11_000 }, () => frame(0, 0, 1, '61'))],
    ],
  ])('%s', async (_, code, bytes) => {
    answer = () => new Promise(() => undefined)
    const last = (await exchange(bytes as Buffer[])).at(-1)!
    expect([last.type, last.payload.readUInt32BE(4)]).toEqual([7, code])
  })
})

describe('Http2Connection resets a stream with a code', () => {
  test.each([
    ['without a path', 1, [frame(1, 5, 1, '8287')]],
    ['with a pseudo-header after a header', 1, [frame(1, 5, 1, '8287 4001 6101 62 84'.replaceAll(' ', ''))]],
    ['with a header of HTTP/1.1', 1, [frame(1, 5, 1, `${get}400a636f6e6e656374696f6e0162`)]],
    ['with less data than its content-length', 1, [frame(1, 4, 1, `${get}0f0d0135`), frame(0, 1, 1, '00')]],
    ['with DATA after its end', 5, [frame(1, 5, 1, get), frame(0, 0, 1, '00')]],
    ['over the limit of streams', 7, [1, 3, 5, 7].map((id) => frame(1, 5, id, get))],
    ['with a window that is too large', 3, [frame(1, 5, 1, get), frame(8, 0, 1, '7fffffff')]],
  ])('%s', async (_, code, bytes) => {
    answer = () => new Promise(() => undefined)
    const reset = (await exchange([preface, settings, ...bytes], ({ type }) => type === 3)).at(-1)!
    expect([reset.type, reset.payload.readUInt32BE(0)]).toEqual([3, code])
  })
})

test('Http2Connection reads padding, priorities, CONTINUATION, trailers and bytes that arrive one by one', async () => {
  answer = async ({ method, headers, body }) => ({
    status: 200,
    headers: {},
    body: Buffer.from(`${method} ${headers['x-a']} ${Buffer.from(await body(100)).toString()}`),
  })
  const { host, port } = listener
  const socket: TLSSocket = connect({ host, port, rejectUnauthorized: false, ALPNProtocols: ['h2'] })
  await once(socket, 'secureConnect')
  const bytes = Buffer.concat([
    preface,
    settings,
    frame(2, 0, 1, '0000000010'),
    frame(99, 0, 1, 'ff'),
    frame(1, 0x28, 1, `02 0000000010 838784 0000`.replaceAll(' ', '')),
    frame(9, 4, 1, '4003782d61 0131'.replaceAll(' ', '')),
    frame(0, 8, 1, Buffer.concat([Buffer.from([3]), Buffer.from('body'), Buffer.alloc(3)])),
    frame(1, 5, 1, '4003782d74 0131'.replaceAll(' ', '')),
  ])
  for (const byte of bytes) socket.write(Buffer.from([byte]))
  let text = ''
  while (!text.includes('POST 1 body')) text += ((await once(socket, 'data')) as [Buffer])[0].toString('latin1')
  socket.destroy()
})

/** Sends a request and resolves to the body of the response. */
async function send(session: ClientHttp2Session, body: Buffer): Promise<Buffer> {
  const stream: ClientHttp2Stream = session.request({ ':method': 'POST', ':path': '/' })
  stream.end(body)
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

test('Http2Connection transfers bodies of any size within any window', async () => {
  answer = async ({ body }) => {
    const received = await body(10_000_000)
    if (received.length % 2 === 0) return { ...ok, body: received }
    return {
      ...ok,
      body: async (sink) => {
        for (let at = 0; at < received.length; at += 7001) {
          if (!sink.write(received.subarray(at, at + 7001))) await sink.drained()
        }
      },
    }
  }
  for (const initialWindowSize of [1, 100, 65_535, 1_000_000]) {
    const url = `https://${listener.host}:${listener.port}`
    const session = connectHttp2(url, { rejectUnauthorized: false, settings: { initialWindowSize } })
    sessions.push(session)
    const sizes = [0, 1, 16_384, 16_385, 300_001, 1_500_000].filter((size) => size < initialWindowSize * 2000)
    await Promise.all(
      sizes.slice(-3).map(async (size) => {
        const sent = Buffer.from(
          Uint32Array.from({ length: Math.ceil(size / 4) }, (_, i) => i * 2_654_435_761).buffer,
        ).subarray(0, size)
        const received = await send(session, sent)
        expect(received.equals(sent)).toBe(true)
      }),
    )
    session.destroy()
  }
})

test.each([
  ['reads', async ({ body }: ApiRequest) => ({ ...ok, body: await body(1_000_000) })],
  // Later, when the client has sent the body.
  ['does not read', () => new Promise<ApiResponse>((resolve) => setTimeout(resolve, 3, ok))],
  [
    'refuses',
    async ({ body }: ApiRequest) =>
      body(1000)
        .then(() => ok)
        .catch(() => ok),
  ],
])('Http2Connection grants the client bytes for bodies that the handler %s', async (_, handler) => {
  answer = handler
  const session = connectHttp2(`https://${listener.host}:${listener.port}`, { rejectUnauthorized: false })
  sessions.push(session)
  // Three times the window of the connection.
  for (let i = 0; i < 300; i++) expect((await send(session, Buffer.alloc(10_000))).length).toBeGreaterThan(0)
  // Never more than the window of the connection: bytes that were granted twice would add up.
  expect(session.state.remoteWindowSize).toBeLessThanOrEqual(1024 * 1024)
  session.destroy()
})

test('Http2Connection reads no further requests while the client does not read responses', () => {
  class StalledSocket extends EventEmitter {
    writableLength = 0
    isPaused = false
    write(bytes: Buffer): boolean {
      this.writableLength += bytes.length
      return this.writableLength < 16_384
    }
    pause(): void {
      this.isPaused = true
    }
    resume(): void {
      this.isPaused = false
    }
  }
  const socket = new StalledSocket()
  const flusher = new Flusher(systemClock)
  const onStream = (stream: Http2Stream): void => stream.respond(200, { 'x-a': 'a'.repeat(1000) }, true)
  const bodies = new BodyBudget({ total: 1000, connection: 1000 }).accountOf(socket)
  const limits = { streamsPerConnection: 100, headerBytes: 16_384, headers: 100 }
  const options = { ...limits, flusher, clock: systemClock, bodies, onStream }
  const connection = new Http2Connection(socket as unknown as TLSSocket, options)
  socket.emit('data', Buffer.concat([preface, settings]))
  let requests = 0
  for (; !socket.isPaused && requests < 10_000; requests++) {
    socket.emit('data', frame(1, 5, requests * 2 + 1, get))
    connection.flush()
  }
  expect(requests).toBeLessThan(2000)
  socket.writableLength = 0
  socket.emit('drain')
  expect(socket.isPaused).toBe(false)
})
