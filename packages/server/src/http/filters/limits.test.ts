import { type Clock, Deferred, memoryLogger } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import type { AdmissionPlugin } from '../../admission/admission.ts'
import type { RequestFilter } from '../../request/request-filter.ts'
import { PlainServer } from '../../testdata/plain-server.ts'
import { maxInFlight } from './max-in-flight.ts'
import { maxLongRunning } from './max-long-running.ts'
import { requestLog } from './request-log.ts'
import { requestTimeout } from './request-timeout.ts'

/** A filter that holds requests until released. */
function holding(): { filter: RequestFilter; release: () => void } {
  const gate = new Deferred<void>()
  return {
    filter: async (_, next) => {
      await gate.promise
      return next()
    },
    release: () => gate.resolve(),
  }
}

/** Replaces the user by one who is not an administrator. */
const asSomebody: RequestFilter = async (context, next) => {
  Object.assign(context, { user: { name: 'somebody', groups: [] } })
  return next()
}

describe('maxInFlight()', () => {
  test('rejects requests over the limit and counts reads and writes separately', async () => {
    const { filter, release } = holding()
    await using server = await PlainServer.start([], async () => ({
      filters: [asSomebody, maxInFlight({ readOnly: 1, mutating: 1 }), filter],
    }))
    const first = server.send('GET /api/v1/namespaces')
    const refused = await server.send('GET /api/v1/namespaces')
    expect(refused).toMatchObject({ status: 429, text: 'Too many requests, please try again later.\n' })
    expect(refused.headers['retry-after']).toBe('1')
    const write = server.send('POST /api/v1/namespaces', { body: { metadata: { name: 'a' } } })
    release()
    expect((await first).status).toBe(200)
    expect((await write).status).toBe(201)
    expect((await server.send('GET /api/v1/namespaces')).status).toBe(200)
  })

  test('leaves slots for other users', async () => {
    const { filter, release } = holding()
    let user = { name: 'system:anonymous', groups: ['system:unauthenticated'] }
    const asUser: RequestFilter = async (context, next) => {
      Object.assign(context, { user })
      return next()
    }
    await using server = await PlainServer.start([], async () => ({
      filters: [asUser, maxInFlight({ readOnly: 8 }), filter],
    }))
    const get = (): Promise<{ status: number }> => server.send('GET /api/v1/namespaces')
    const pending = [get(), get()]
    expect((await get()).status).toBe(429)
    user = { name: 'a', groups: ['system:authenticated'] }
    pending.push(get(), get(), get(), get(), get())
    user = { name: 'b', groups: ['system:authenticated'] }
    pending.push(get())
    expect((await get()).status).toBe(429)
    release()
    expect((await Promise.all(pending)).map(({ status }) => status)).toEqual(Array(8).fill(200))
    user = { name: 'c', groups: ['system:authenticated'] }
    expect((await get()).status).toBe(200)
  })

  test('does not limit administrators', async () => {
    const { filter, release } = holding()
    await using server = await PlainServer.start([], async () => ({ filters: [maxInFlight({ readOnly: 0 }), filter] }))
    release()
    expect((await server.send('GET /api/v1/namespaces')).status).toBe(200)
  })

  test('keeps the slot until the response has been sent', async () => {
    await using server = await PlainServer.start([], async () => ({
      filters: [asSomebody, maxInFlight({ readOnly: 1 })],
    }))
    let sent: () => void = () => undefined
    const onSent = (callback: () => void): void => {
      sent = callback
    }
    expect((await server.send('GET /api/v1/namespaces', { onSent })).status).toBe(200)
    expect((await server.send('GET /api/v1/namespaces')).status).toBe(429)
    sent()
    expect((await server.send('GET /api/v1/namespaces')).status).toBe(200)
  })

  test('releases the slot of a streamed response that no client reads', async () => {
    const streaming: RequestFilter = async () => ({ status: 200, headers: {}, body: async () => undefined })
    await using server = await PlainServer.start([], async () => ({
      filters: [asSomebody, maxInFlight({ readOnly: 1 }), streaming],
    }))
    for (let i = 0; i < 3; i++) {
      expect((await server.send('HEAD /api/v1/namespaces', { onSent: (callback) => callback() })).status).toBe(200)
    }
  })

  test('releases the slot when the request fails', async () => {
    await using server = await PlainServer.start([], async () => ({
      filters: [asSomebody, maxInFlight({ readOnly: 1 })],
    }))
    for (let i = 0; i < 3; i++) expect((await server.send('GET /api/v1/namespaces/nosuch')).status).toBe(404)
  })
})

describe('maxLongRunning()', () => {
  test('limits the watches of each user and releases those that end', async () => {
    const asUser: RequestFilter = async (context, next) => {
      Object.assign(context, { user: { name: context.request.headers['user-agent'], groups: [] } })
      return next()
    }
    await using server = await PlainServer.start([], async () => ({ filters: [asUser, maxLongRunning(2)] }))
    const path = '/api/v1/namespaces?watch=1'
    const first = await server.watch(path)
    const second = await server.watch(path)
    await expect(server.watch(path)).rejects.toThrow('Too many requests, please try again later.')
    expect((await server.send('GET /api/v1/namespaces')).status).toBe(200)
    const headers = { 'user-agent': 'another user' }
    await expect(server.send(`GET ${path}`, { headers })).rejects.toThrow('streams')
    first.stop()
    await first.done
    const third = await server.watch(path)
    for (const watch of [second, third]) {
      watch.stop()
      await watch.done
    }
  })
})

describe('requestTimeout()', () => {
  test('responds with 504 after the timeout of the request', async () => {
    await using server = await PlainServer.start([], async (parts) => ({
      filters: [requestTimeout(parts.clock), () => new Promise(() => undefined)],
    }))
    const answer = server.send('GET /api/v1/namespaces?timeout=5s')
    await server.clock.advance(5000)
    expect(await answer).toMatchObject({
      status: 504,
      body: { reason: 'Timeout', message: 'Timeout: request did not complete within the allotted timeout' },
    })
  })

  test('stores nothing after the timeout of the request', async () => {
    const { filter, release } = holding()
    await using server = await PlainServer.start([], async (parts) => ({
      filters: [requestTimeout(parts.clock), filter],
    }))
    const answer = server.send('POST /api/v1/namespaces?timeout=5s', { body: { metadata: { name: 'late' } } })
    await server.clock.advance(6000)
    release()
    expect((await answer).status).toBe(504)
    expect((await server.send('GET /api/v1/namespaces/late')).status).toBe(404)
  })

  test('responds with 504 to a write that computed until the timeout, although no timer fired', async () => {
    let now = 0
    const busy: RequestFilter = async (_, next) => {
      now = 61_000
      return next()
    }
    await using server = await PlainServer.start([], async ({ clock }) => {
      const stopped: Clock = {
        now: () => now,
        nowMicros: () => now * 1000,
        monotonic: () => now,
        setTimer: (...args) => clock.setTimer(...args),
        sleep: (...args) => clock.sleep(...args),
      }
      return { filters: [requestTimeout(stopped), busy] }
    })
    const answer = await server.send('POST /api/v1/namespaces', { body: { metadata: { name: 'late' } } })
    expect(answer).toMatchObject({ status: 504, body: { reason: 'Timeout' } })
  })

  test('stores nothing when validating admission took longer than the timeout', async () => {
    let now = 0
    const slow: AdmissionPlugin = {
      name: 'slow',
      validate: async () => {
        now = 61_000
      },
    }
    await using server = await PlainServer.start([], async ({ clock }) => {
      const stopped: Clock = {
        now: () => now,
        nowMicros: () => now * 1000,
        monotonic: () => now,
        setTimer: (...args) => clock.setTimer(...args),
        sleep: (...args) => clock.sleep(...args),
      }
      return { filters: [requestTimeout(stopped)], admission: [slow] }
    })
    const answer = await server.send('POST /api/v1/namespaces', { body: { metadata: { name: 'late' } } })
    expect(answer).toMatchObject({ status: 504, body: { reason: 'Timeout' } })
    now = 0
    expect((await server.send('GET /api/v1/namespaces/late')).status).toBe(404)
  })

  test('rejects a malformed timeout', async () => {
    await using server = await PlainServer.start([], async (parts) => ({ filters: [requestTimeout(parts.clock)] }))
    expect((await server.send('GET /api?timeout=soon')).body.message).toBe(
      'invalid timeout specified in the request URL - time: invalid duration "soon"',
    )
  })

  test('cancels its timer and sets none for a watch', async () => {
    await using server = await PlainServer.start([], async (parts) => ({ filters: [requestTimeout(parts.clock)] }))
    const limits = (): number => server.clock.pending.filter(({ label }) => label === 'request timeout').length
    await server.send('GET /api/v1/namespaces')
    expect(limits()).toBe(0)
    const watch = await server.watch('/api/v1/namespaces?watch=1')
    expect(limits()).toBe(0)
    watch.stop()
    await watch.done
  })
})

describe('requestLog()', () => {
  test.each([
    [1, [{ level: 1, values: { method: 'GET', path: '/api/v1/namespaces', status: 200, ms: 1500 } }]],
    [0, []],
  ])('logs slow requests at debug level %i', async (maxLevel, expected) => {
    const log = memoryLogger(maxLevel)
    await using server = await PlainServer.start([], async (parts) => ({
      filters: [
        requestLog(parts.clock, log),
        async (_, next) => {
          await parts.clock.sleep(1500)
          return next()
        },
      ],
    }))
    const answer = server.send('GET /api/v1/namespaces')
    await server.clock.advance(1500)
    await answer
    expect(log.records.filter(({ message }) => message === 'Slow request')).toMatchObject(expected)
  })
})

test('createApiServer() runs each filter once per request, outermost first', async () => {
  const seen: string[] = []
  const named =
    (name: string): RequestFilter =>
    async (_, next) => {
      seen.push(`${name} in`)
      const response = await next()
      seen.push(`${name} out`)
      return response
    }
  await using server = await PlainServer.start([], async () => ({ filters: [named('a'), named('b')] }))
  await server.send('GET /api/v1/namespaces')
  expect(seen).toEqual(['a in', 'b in', 'b out', 'a out'])
})
