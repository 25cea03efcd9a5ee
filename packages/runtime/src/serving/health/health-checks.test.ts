import { nullLogger, VirtualClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { memoryHttpListener } from '../http/memory-http-listener.ts'
import { createHealthChecks } from './health-checks.ts'

async function setUp() {
  const clock = new VirtualClock()
  const failures: string[] = []
  const checks = createHealthChecks({ clock, onFailure: (name) => failures.push(name) })
  const listener = memoryHttpListener()
  await listener.listen({ name: 'probes', host: '', port: 0, handler: checks.handler, log: nullLogger })
  const ask = async (url: string, remoteAddress = '10.0.0.1', method = 'GET') => {
    const { status, body } = await listener.request('probes', url, { remoteAddress, method })
    return [status, body]
  }
  return { clock, checks, ask, failures }
}

const fails = (): never => {
  throw new Error('secrets is forbidden')
}

describe('createHealthChecks()', () => {
  test('passes when no check was added', async () => {
    const { ask } = await setUp()
    expect(await ask('/healthz')).toEqual([200, 'ok'])
    expect(await ask('/readyz/')).toEqual([200, 'ok'])
    expect(await ask('/readyz?verbose')).toEqual([200, '[+]ping ok\nhealthz check passed\n'])
    expect(await ask('/healthz/ping')).toEqual([200, 'ok'])
  })

  test('withholds reasons on the summary page, except from the loopback interface', async () => {
    const { checks, ask, failures } = await setUp()
    checks.addReadiness({ name: 'rbac', check: fails })
    checks.addReadiness({ name: 'cache', check: async () => undefined })
    expect(await ask('/healthz')).toEqual([200, 'ok'])
    const page = '[+]cache ok\n[+]ping ok\n[-]rbac failed: reason withheld\nhealthz check failed\n'
    expect(await ask('/readyz')).toEqual([500, page])
    const [status, body] = await ask('/readyz', '::ffff:127.0.0.1')
    expect([status, body]).toEqual([500, page.replace('reason withheld', 'secrets is forbidden')])
    expect(await ask('/readyz/rbac')).toEqual([500, 'internal server error: secrets is forbidden\n'])
    expect(failures).toEqual(['rbac', 'rbac', 'rbac'])
  })

  test('skips excluded checks, and warns of unknown ones', async () => {
    const { checks, ask } = await setUp()
    checks.addLiveness({ name: 'lease', check: fails })
    expect(await ask('/healthz?exclude=lease')).toEqual([200, 'ok'])
    expect(await ask('/healthz?verbose&exclude=lease&exclude=foo')).toEqual([
      200,
      '[+]lease excluded: ok\n[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "foo"\nhealthz check passed\n',
    ])
  })

  test('accepts checks that are added and removed while it serves', async () => {
    const { checks, ask } = await setUp()
    const added = checks.addLiveness({ name: 'lease', check: fails })
    expect((await ask('/healthz'))[0]).toBe(500)
    added[Symbol.dispose]()
    expect(await ask('/healthz')).toEqual([200, 'ok'])
    expect(await ask('/healthz/lease')).toEqual([404, '404 page not found\n'])
  })

  test('fails a check that exceeds the timeout', async () => {
    const { checks, ask, clock } = await setUp()
    let aborted = false
    checks.addLiveness({
      name: 'slow',
      check: (signal) => new Promise(() => signal.addEventListener('abort', () => (aborted = true))),
    })
    const answer = ask('/healthz/slow')
    await clock.advance(10_000)
    expect(await answer).toEqual([500, 'internal server error: Timed out after 10s: health check slow\n'])
    expect(aborted).toBe(true)
  })

  test('rejects duplicate names, lets a check replace ping, and responds with 404 and 405 otherwise', async () => {
    const { checks, ask } = await setUp()
    checks.addLiveness({ name: 'lease', check: fails })
    expect(() => checks.addLiveness({ name: 'lease', check: fails })).toThrow('Cannot add health check "lease"')
    expect(() => checks.addLiveness({ name: 'a/b', check: fails })).toThrow('without slashes')
    checks.addReadiness({ name: 'ping', check: fails })
    expect((await ask('/readyz'))[0]).toBe(500)
    expect((await ask('/'))[0]).toBe(404)
    expect((await ask('/healthz', undefined, 'POST'))[0]).toBe(405)
  })
})
