// The conformance suite that every transport must pass. The test file of a transport opens it and passes it to
// transportContract().
import assert from 'node:assert/strict'
import type { ApiHandler } from '@kubewright/api'
import { ConnectionError } from './transport/connection-error.ts'
import type { Transport, TransportResponse } from './transport/transport.ts'

/** The part of a test runner that the suite needs. The `test` functions of vitest and node:test satisfy it. */
export type TestFunction = (name: string, body: () => Promise<void>) => unknown

/** Opens a transport to a server that runs the handler. Disposing the transport also closes the server. */
export type OpenTransport = (handler: ApiHandler) => Promise<Transport>

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (value: Uint8Array): string => new TextDecoder().decode(value)
const read = async ({ body }: TransportResponse): Promise<string> => text(await body.bytes())

/** A promise and the function that resolves it. */
function gate(): { readonly passed: Promise<void>; pass(): void } {
  let pass = (): void => undefined
  const passed = new Promise<void>((resolve) => {
    pass = resolve
  })
  return { passed, pass }
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve())))

/** Registers the tests that hold for every {@link Transport}. */
export function transportContract(name: string, test: TestFunction, open: OpenTransport): void {
  const it = (behaviour: string, handler: ApiHandler, body: (transport: Transport) => Promise<void>): unknown =>
    test(`${name}: ${behaviour}`, async () => {
      const transport = await open(handler)
      try {
        await body(transport)
      } finally {
        await transport[Symbol.asyncDispose]()
      }
    })

  const echo: ApiHandler = async (request) => ({
    status: 201,
    headers: { 'content-type': 'application/json', warning: ['299 - "a"', '299 - "b"'] },
    body: bytes(
      JSON.stringify({
        method: request.method,
        path: request.path,
        query: [...request.query],
        header: request.headers['x-test'],
        body: text(await request.body(1024)),
      }),
    ),
  })

  it('send() transmits method, path, query, headers and body, and returns the response', echo, async (transport) => {
    const response = await transport.send({
      method: 'POST',
      path: '/api/v1/a%2Fb?x=1&x=%20',
      headers: { 'x-test': 'yes', 'content-type': 'text/plain' },
      body: bytes('grüße'),
    })
    assert.equal(response.status, 201)
    assert.deepEqual(response.headers['content-type'], ['application/json'])
    assert.equal(response.headers['warning']?.join(', '), '299 - "a", 299 - "b"')
    assert.deepEqual(JSON.parse(await read(response)), {
      method: 'POST',
      path: '/api/v1/a%2Fb',
      query: [
        ['x', '1'],
        ['x', ' '],
      ],
      header: 'yes',
      body: 'grüße',
    })
  })

  it(
    'send() returns responses of every status',
    async ({ path }) => ({ status: Number(path.slice(1)), headers: {} }),
    async (transport) => {
      for (const status of [200, 204, 404, 429, 500, 503]) {
        const response = await transport.send({ method: 'GET', path: `/${status}` })
        assert.equal(response.status, status)
        assert.equal(await read(response), '')
      }
    },
  )

  it('send() handles many concurrent requests', echo, async (transport) => {
    const paths = Array.from({ length: 200 }, (_, index) => `/${index}`)
    const answers = await Promise.all(paths.map((path) => transport.send({ method: 'GET', path }).then(read)))
    assert.deepEqual(
      answers.map((answer) => (JSON.parse(answer) as { path: string }).path),
      paths,
    )
  })

  const megabytes = new Uint8Array(5_000_000).fill(97)
  it(
    'bytes() reads a large body',
    async () => ({ status: 200, headers: {}, body: megabytes }),
    async (transport) => {
      const response = await transport.send({ method: 'GET', path: '/' })
      assert.equal(Buffer.compare(await response.body.bytes(), megabytes), 0)
    },
  )

  const chunk = new Uint8Array(65_536).fill(98)
  const long: ApiHandler = async () => ({
    status: 200,
    headers: {},
    body: async (sink) => {
      for (let index = 0; index < 100; index++) if (!sink.write(chunk)) await sink.drained()
    },
  })
  it('bytes() reads a streamed body that is larger than every buffer', long, async (transport) => {
    const response = await transport.send({ method: 'GET', path: '/' })
    assert.equal((await response.body.bytes()).length, 100 * chunk.length)
  })
  it('body iteration reads a streamed body that is larger than every buffer', long, async (transport) => {
    const response = await transport.send({ method: 'GET', path: '/' })
    let size = 0
    for await (const part of response.body) size += part.length
    assert.equal(size, 100 * chunk.length)
  })

  const firstRead = gate()
  const twoSteps: ApiHandler = async () => ({
    status: 200,
    headers: {},
    body: async (sink) => {
      sink.write(bytes('first'))
      await firstRead.passed
      sink.write(bytes('second'))
    },
  })
  it('body iteration yields the first part before the rest arrives', twoSteps, async (transport) => {
    const response = await transport.send({ method: 'GET', path: '/' })
    const seen: string[] = []
    for await (const part of response.body) {
      seen.push(text(part))
      firstRead.pass()
    }
    assert.deepEqual(seen, ['first', 'second'])
  })

  const readerLeft = gate()
  const endless: ApiHandler = async ({ signal }) => ({
    status: 200,
    headers: {},
    body: async (sink) => {
      sink.write(bytes('tick'))
      await untilAborted(signal)
      readerLeft.pass()
    },
  })
  it('leaving a body iteration aborts the request at the server', endless, async (transport) => {
    const response = await transport.send({ method: 'GET', path: '/' })
    for await (const part of response.body) {
      assert.equal(text(part), 'tick')
      break
    }
    await readerLeft.passed
  })

  const discarded = gate()
  const endlessUntilDiscarded: ApiHandler = async ({ signal }) => ({
    status: 200,
    headers: {},
    body: async (sink) => {
      sink.write(bytes('tick'))
      await untilAborted(signal)
      discarded.pass()
    },
  })
  it('discard() aborts the request at the server', endlessUntilDiscarded, async (transport) => {
    const response = await transport.send({ method: 'GET', path: '/' })
    response.body.discard()
    await discarded.passed
  })
  it('body iteration rejects with the reason of an abort', endlessUntilDiscarded, async (transport) => {
    const controller = new AbortController()
    const response = await transport.send({ method: 'GET', path: '/', signal: controller.signal })
    await assert.rejects(async () => {
      for await (const _ of response.body) controller.abort(new Error('enough'))
    }, /^Error: enough$/)
  })

  /** A server that never responds, and a promise that resolves when it has received a request. */
  const silent = (): { readonly handler: ApiHandler; readonly received: Promise<void> } => {
    const { passed, pass } = gate()
    const handler: ApiHandler = async ({ signal }) => {
      pass()
      await untilAborted(signal)
      return { status: 200, headers: {} }
    }
    return { handler, received: passed }
  }

  const unanswered = silent()
  it('send() rejects with the reason of an abort', unanswered.handler, async (transport) => {
    const controller = new AbortController()
    const sent = assert.rejects(
      transport.send({ method: 'GET', path: '/', signal: controller.signal }),
      /^Error: enough$/,
    )
    await unanswered.received
    controller.abort(new Error('enough'))
    await sent
    await assert.rejects(transport.send({ method: 'GET', path: '/', signal: controller.signal }), /^Error: enough$/)
  })

  const inFlight = silent()
  it('disposing fails requests in flight and later ones', inFlight.handler, async (transport) => {
    const sent = assert.rejects(transport.send({ method: 'GET', path: '/' }), ConnectionError)
    await inFlight.received
    await transport[Symbol.asyncDispose]()
    await sent
    await assert.rejects(transport.send({ method: 'GET', path: '/' }), ConnectionError)
  })
}
