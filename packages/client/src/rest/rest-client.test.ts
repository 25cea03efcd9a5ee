import {
  type ApiHandler,
  type ApiResponse,
  isInternalError,
  isNotFound,
  isTooManyRequests,
  isUnexpectedServerError,
} from '@kubewright/api'
import { VirtualClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { ConnectionError } from '../transport/connection-error.ts'
import { inProcessTransport } from '../transport/in-process-transport.ts'
import type { Transport, TransportRequest } from '../transport/transport.ts'
import { RestClient, type RestClientOptions } from './rest-client.ts'

const json = (status: number, value: unknown, headers: Record<string, string> = {}): ApiResponse => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: Buffer.from(JSON.stringify(value)),
})

function setUp(handler: ApiHandler, options: Partial<RestClientOptions> = {}) {
  const clock = new VirtualClock()
  return { clock, rest: new RestClient({ transport: inProcessTransport({ handler }), clock, ...options }) }
}

/** A transport that fails the given number of times, then responds. */
function flaky(failures: number, code: string): Transport & { readonly sent: TransportRequest[] } {
  const sent: TransportRequest[] = []
  const inner = inProcessTransport({ handler: async () => json(200, { ok: true }), host: 'h' })
  return {
    host: 'h',
    sent,
    send: async (request) => {
      sent.push(request)
      if (sent.length > failures) return inner.send(request)
      throw new ConnectionError('broke', { host: 'h', cause: Object.assign(new Error('broke'), { code }) })
    },
    [Symbol.asyncDispose]: async () => undefined,
  }
}

describe('RestClient', () => {
  test('sends query, headers and body', async () => {
    const { rest } = setUp(async ({ path, query, headers, body }) =>
      json(200, [path, query.get('a'), headers, Buffer.from(await body(100)).toString()]),
    )
    const query = new URLSearchParams({ a: '1 2' })
    expect(await rest.json({ method: 'POST', path: '/x', query, body: '{}' })).toEqual([
      '/x',
      '1 2',
      { 'user-agent': 'kubewright', accept: 'application/json', 'content-type': 'application/json' },
      '{}',
    ])
  })

  test('retries after Retry-After, also writes', async () => {
    let calls = 0
    const { rest, clock } = setUp(async () =>
      ++calls < 3 ? json(429, {}, { 'retry-after': '2' }) : json(200, { calls }),
    )
    const answer = rest.json({ method: 'POST', path: '/', body: '{}' })
    await clock.advance(3999)
    expect(calls).toBe(2)
    await clock.advance(1)
    expect(await answer).toEqual({ calls: 3 })
  })

  test('does not retry without Retry-After or after another status', async () => {
    let calls = 0
    const { rest } = setUp(async ({ path }) => {
      calls++
      return path === '/a' ? json(503, {}) : json(404, {}, { 'retry-after': '1' })
    })
    await expect(rest.json({ method: 'GET', path: '/a' })).rejects.toMatchObject({ statusCode: 503 })
    await expect(rest.json({ method: 'GET', path: '/b' })).rejects.toMatchObject({ statusCode: 404 })
    expect(calls).toBe(2)
  })

  test('gives up after ten retries', async () => {
    let calls = 0
    const { rest, clock } = setUp(
      async () => {
        calls++
        return json(429, {}, { 'retry-after': '1' })
      },
      { timeout: '1h' },
    )
    const answer = rest.json({ method: 'GET', path: '/' }).catch((error: unknown) => error)
    await clock.advance(60_000)
    expect(isTooManyRequests(await answer)).toBe(true)
    expect(calls).toBe(11)
  })

  test('retries a read whose connection was lost, but never a write', async () => {
    const reading = flaky(1, 'ECONNRESET')
    const { rest, clock } = setUp(async () => json(200, {}), { transport: reading })
    const answer = rest.json({ method: 'GET', path: '/' })
    await clock.advance(1000)
    expect(await answer).toEqual({ ok: true })
    const writing = flaky(1, 'ECONNRESET')
    const other = setUp(async () => json(200, {}), { transport: writing }).rest
    await expect(other.json({ method: 'PUT', path: '/', body: '{}' })).rejects.toMatchObject({ host: 'h', attempt: 1 })
    expect(writing.sent).toHaveLength(1)
  })

  test('does not retry a refused connection, and reports the attempt', async () => {
    const refused = flaky(9, 'ECONNREFUSED')
    const first = setUp(async () => json(200, {}), { transport: refused }).rest
    await expect(first.json({ method: 'GET', path: '/' })).rejects.toMatchObject({ attempt: 1 })
    const { rest, clock } = setUp(async () => json(200, {}), { transport: flaky(99, 'EPIPE'), timeout: '1h' })
    const answer = rest.json({ method: 'GET', path: '/' }).catch((error: unknown) => error)
    await clock.advance(20_000)
    expect(await answer).toMatchObject({ code: 'KW_CONNECTION', attempt: 11, message: 'h: broke (attempt 11)' })
  })

  test('renews credentials once after a 401', async () => {
    const shown: unknown[] = []
    let version = 0
    const credentials = {
      headers: () => ({ authorization: `Bearer ${version}` }),
      renew: () => {
        version++
        return true
      },
    }
    const { rest } = setUp(
      async ({ headers }) => {
        shown.push(headers['authorization'])
        return headers['authorization'] === 'Bearer 1' ? json(200, {}) : json(401, {})
      },
      { credentials },
    )
    expect(await rest.json({ method: 'POST', path: '/', body: '' })).toEqual({})
    version = 1
    credentials.renew()
    await expect(rest.json({ method: 'GET', path: '/' })).rejects.toMatchObject({ statusCode: 401 })
    expect(shown).toEqual(['Bearer 0', 'Bearer 1', 'Bearer 2', 'Bearer 3'])
  })

  test('reports each warning once', async () => {
    const heard: string[] = []
    const { rest } = setUp(async () => json(200, {}, { warning: '299 - "old, \\"very\\" old", 299 - "other"' }), {
      onWarning: (text) => heard.push(text),
    })
    await rest.json({ method: 'GET', path: '/' })
    await rest.json({ method: 'GET', path: '/' })
    expect(heard).toEqual(['old, "very" old', 'other'])
  })

  test('rejects with the Status, or with an error derived from the code', async () => {
    const status = {
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      reason: 'NotFound',
      message: 'gone',
      code: 404,
    }
    const { rest } = setUp(async ({ path }) =>
      path === '/status' ? json(404, status) : { status: 502, headers: {}, body: Buffer.from('Bad Gateway\n') },
    )
    const first = await rest.json({ method: 'GET', path: '/status' }).catch((error: unknown) => error)
    expect(isNotFound(first) && !isUnexpectedServerError(first)).toBe(true)
    const resource = { group: 'apps', resource: 'deployments' }
    const second = await rest
      .json({ method: 'GET', path: '/', resource, name: 'web' })
      .catch((error: unknown) => error as Error)
    expect(isInternalError(second) && isUnexpectedServerError(second)).toBe(true)
    expect((second as Error).message).toBe(
      'an error on the server ("Bad Gateway") has prevented the request from succeeding (get deployments.apps web)',
    )
  })

  test('aborts a call at its deadline, also at the server', async () => {
    let aborted = false
    const { rest, clock } = setUp(async ({ signal }) => {
      signal.addEventListener('abort', () => (aborted = true))
      return new Promise<never>(() => undefined)
    })
    const answer = rest.json({ method: 'GET', path: '/slow', timeout: '5s' }).catch((error: unknown) => error)
    const stream = rest.stream({ method: 'GET', path: '/slow', timeout: '5s' }).catch((error: unknown) => error)
    await clock.advance(5000)
    const expected = { code: 'KW_DEADLINE_EXCEEDED', message: 'Timed out after 5s: GET /slow' }
    expect(await answer).toMatchObject(expected)
    expect(await stream).toMatchObject(expected)
    expect(aborted).toBe(true)
  })

  test('applies the deadline of a stream only until it starts', async () => {
    let write: (text: string) => void = () => undefined
    const { rest, clock } = setUp(async () => ({
      status: 200,
      headers: {},
      body: (sink) =>
        new Promise((resolve) => {
          write = (text) => (text === '' ? resolve() : void sink.write(Buffer.from(text)))
        }),
    }))
    const body = await rest.stream({ method: 'GET', path: '/', timeout: '1s' })
    await clock.advance(60_000)
    write('late')
    write('')
    expect(Buffer.from(await body.bytes()).toString()).toBe('late')
  })

  test('calls onResponse for each attempt and runs calls inside around', async () => {
    let answers = 0
    const attempts: unknown[] = []
    const around: string[] = []
    const { rest, clock } = setUp(
      async () => (answers++ === 0 ? json(503, {}, { 'retry-after': '1' }) : json(200, { ok: true })),
      {
        onResponse: ({ method, path, host, attempt, status, requestBytes }) =>
          attempts.push([method, path, host, attempt, status, requestBytes]),
        around: async ({ method, path }, call) => {
          around.push(`${method} ${path}`)
          return call()
        },
      },
    )
    const answer = rest.json({ method: 'POST', path: '/a', body: '{}' })
    await clock.advance(1000)
    expect(await answer).toEqual({ ok: true })
    await (await rest.stream({ method: 'GET', path: '/b' })).bytes()
    expect(attempts).toEqual([
      ['POST', '/a', 'in-process', 1, 503, 2],
      ['POST', '/a', 'in-process', 2, 200, 2],
      ['GET', '/b', 'in-process', 1, 200, 0],
    ])
    expect(around).toEqual(['POST /a', 'GET /b'])
  })

  test('calls onResponse for an attempt without a response', async () => {
    const attempts: unknown[] = []
    const transport = flaky(1, 'ECONNREFUSED')
    const rest = new RestClient({
      transport,
      clock: new VirtualClock(),
      onResponse: ({ status }) => attempts.push(status),
    })
    await expect(rest.json({ method: 'POST', path: '/', body: '{}' })).rejects.toThrow('broke')
    expect(attempts).toEqual([undefined])
  })
})
