import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PlainServer } from '../../testdata/plain-server.ts'
import { HealthChecks } from './health-checks.ts'
import { healthPaths } from './health-paths.ts'

const checks = new HealthChecks()
checks.add('ping', () => undefined)
let broken = false
checks.add('disk', async () => {
  if (broken) throw new Error('no space left')
})
checks.add('late', () => undefined, ['readyz'])

let server: PlainServer
beforeAll(async () => {
  server = await PlainServer.start([], async (parts) => ({ paths: [healthPaths(checks, parts.log)] }))
})
afterAll(() => server[Symbol.asyncDispose]())
const ask = async (path: string): Promise<[number, string]> => {
  const { status, text } = await server.send(`GET ${path}`)
  return [status, text]
}

describe('healthPaths()', () => {
  test('responds ok, and lists the checks when verbose', async () => {
    expect(await ask('/livez')).toEqual([200, 'ok'])
    expect(await ask('/livez?verbose')).toEqual([200, '[+]ping ok\n[+]disk ok\nlivez check passed\n'])
    expect(await ask('/readyz?verbose')).toEqual([200, '[+]ping ok\n[+]disk ok\n[+]late ok\nreadyz check passed\n'])
  })

  test('excludes checks and warns about unknown names', async () => {
    expect(await ask('/livez?verbose&exclude=disk&exclude=x&exclude=a')).toEqual([
      200,
      '[+]ping ok\n[+]disk excluded: ok\nwarn: some health checks cannot be excluded: no matches for "a","x"\nlivez check passed\n',
    ])
  })

  test('shows the reason of a failure only at the path of the check', async () => {
    broken = true
    expect(await ask('/readyz')).toEqual([
      500,
      '[+]ping ok\n[-]disk failed: reason withheld\n[+]late ok\nreadyz check failed\n',
    ])
    expect(await ask('/readyz/disk')).toEqual([500, 'internal server error: no space left\n'])
    expect(await ask('/readyz?exclude=disk')).toEqual([200, 'ok'])
    broken = false
  })

  test('runs the checks of /readyz when /metrics/slis has no results yet', async () => {
    const fresh = new HealthChecks()
    fresh.add('ping', () => undefined)
    await using other = await PlainServer.start([], async ({ log }) => ({ paths: [healthPaths(fresh, log)] }))
    const { status, text } = await other.send('GET /metrics/slis')
    expect(status).toBe(200)
    expect(text).toContain('kubernetes_healthcheck{name="ping",type="readyz"} 1\n')
  })

  test('serves the results of checks at /metrics/slis', async () => {
    broken = true
    await ask('/livez/disk')
    broken = false
    await ask('/livez/disk')
    const [status, text] = await ask('/metrics/slis')
    expect(status).toBe(200)
    expect(text).toContain('kubernetes_healthcheck{name="disk",type="livez"} 1\n')
    expect(text).toMatch(/kubernetes_healthchecks_total\{name="disk",status="error",type="livez"\} \d+\n/)
    expect(text).toMatch(/kubernetes_healthchecks_total\{name="disk",status="success",type="livez"\} \d+\n/)
  })

  test('serves each check only below its own endpoints', async () => {
    expect(await ask('/readyz/late')).toEqual([200, 'ok'])
    expect(await ask('/livez/late')).toEqual([404, '404 page not found\n'])
  })
})

describe('HealthChecks', () => {
  test('addGate() adds a check that fails until the gate is opened', () => {
    const gated = new HealthChecks()
    const open = gated.addGate('boot')
    const [gate] = gated.of('readyz')
    expect(() => gate!.check(new AbortController().signal)).toThrow('not finished')
    open()
    expect(gate!.check(new AbortController().signal)).toBeUndefined()
  })
})
