import type { ApiHandler } from '@kubewright/api'
import { memoryLogger, seededRandom, VirtualClock } from '@kubewright/base'
import { createClient, inProcessTransport } from '@kubewright/client'
import { describe, expect, test } from 'vitest'
import { textResponse } from './http-handler.ts'
import { memoryHttpListener } from './memory-http-listener.ts'
import { requireAccess } from './require-access.ts'

/**
 * An API server that accepts the token `good` of a user who may get /metrics, and the token `poor` of a user without
 * permissions.
 */
async function setUp(broken = false) {
  const clock = new VirtualClock()
  const reviews: string[] = []
  const api: ApiHandler = async ({ path, body }) => {
    reviews.push(path.split('/').at(-1)!)
    const { spec } = JSON.parse(Buffer.from(await body(10_000)).toString()) as {
      spec: { token?: string; user?: string; nonResourceAttributes?: { path: string; verb: string } }
    }
    if (broken) return json(500, { kind: 'Status', message: 'broken' })
    if (path.endsWith('tokenreviews')) {
      const authenticated = spec.token === 'good' || spec.token === 'poor'
      return json(201, { status: authenticated ? { authenticated, user: { username: spec.token } } : {} })
    }
    const { path: page, verb } = spec.nonResourceAttributes!
    return json(201, { status: { allowed: spec.user === 'good' && page === '/metrics' && verb === 'get' } })
  }
  const client = createClient({ transport: inProcessTransport({ handler: api }), clock })
  const log = memoryLogger()
  const listener = memoryHttpListener()
  const handler = requireAccess(() => textResponse(200, 'secret'), { api: client, clock, random: seededRandom(1), log })
  await listener.listen({ name: 'metrics', host: '', port: 0, handler, log })
  const ask = async (authorization?: string, url = '/metrics') => {
    const { status, body } = await listener.request('metrics', url, { headers: { authorization } })
    return [status, body]
  }
  return { clock, reviews, ask, log }
}

const json = (status: number, value: unknown) => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(value)),
})

describe('requireAccess()', () => {
  test('allows requests that the API server authorizes', async () => {
    const { ask } = await setUp()
    expect(await ask('Bearer good')).toEqual([200, 'secret'])
    expect(await ask('bearer poor')).toEqual([403, 'Authorization denied for user poor\n'])
    expect(await ask('Bearer good', '/debug')).toEqual([403, 'Authorization denied for user good\n'])
  })

  test('rejects requests without a bearer token at once, and unknown tokens after a review', async () => {
    const { ask, reviews } = await setUp()
    expect(await ask()).toEqual([401, 'Unauthorized\n'])
    expect(await ask('Basic Z29vZA==')).toEqual([401, 'Unauthorized\n'])
    expect(reviews).toEqual([])
    expect(await ask('Bearer bad')).toEqual([401, 'Unauthorized\n'])
    expect(reviews).toEqual(['tokenreviews'])
  })

  test('caches users for one minute, allowed requests for five and denied ones for half a minute', async () => {
    const { ask, reviews, clock } = await setUp()
    for (let round = 0; round < 3; round++) await ask('Bearer good')
    expect(reviews).toEqual(['tokenreviews', 'subjectaccessreviews'])
    await clock.advance(60_000)
    await ask('Bearer good')
    expect(reviews).toEqual(['tokenreviews', 'subjectaccessreviews', 'tokenreviews'])
    await clock.advance(240_000)
    reviews.length = 0
    await ask('Bearer good')
    expect(reviews).toEqual(['tokenreviews', 'subjectaccessreviews'])
    await ask('Bearer poor')
    await clock.advance(29_999)
    reviews.length = 0
    await ask('Bearer poor')
    expect(reviews).toEqual([])
    await clock.advance(1)
    await ask('Bearer poor')
    expect(reviews).toEqual(['subjectaccessreviews'])
  })

  test('tries a failing API server five times within ten seconds, then responds with 500 and logs the error', async () => {
    const { ask, reviews, clock, log } = await setUp(true)
    const answer = ask('Bearer good')
    await clock.advance(10_000)
    expect(await answer).toEqual([500, 'Authentication failed\n'])
    expect(reviews).toHaveLength(5)
    expect(log.records).toMatchObject([{ message: 'Authentication failed', error: { message: expect.any(String) } }])
    expect(JSON.stringify(log.records)).not.toContain('good')
  })
})
