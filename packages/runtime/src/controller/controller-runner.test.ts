import { ApiError, newApplyConflict, newConflict, newNotFound, newTooManyRequests } from '@kubewright/api'
import { Deferred, KubewrightError, memoryLogger } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { itemExponentialRateLimiter } from '../queue/rate-limiter.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import { defineKeyController, type KeyContext, type KeyOutcome } from './key-controller.ts'
import { ReconcileError, RetryLater, TerminalError } from './reconcile-errors.ts'
import { channelSource } from './sources/channel-source.ts'
import { runController } from './testdata/run-controller.ts'
import { errorsOf, Home, objectOf, testParts } from './testdata/test-parts.ts'

const homes = { group: 'example.com', resource: 'homes' }
const conflict = (): ApiError => newConflict(homes, 'a', 'the object has been modified')
// Without jitter, so that delays are exact.
const rateLimiter = () => itemExponentialRateLimiter()

describe('the result of a reconcile', () => {
  test('success resets the back-off and does not requeue', async () => {
    const outcomes: (() => KeyOutcome | void)[] = [fail('first'), fail('second'), () => undefined, fail('third')]
    await using running = runController(() => outcomes.shift()?.(), { rateLimiter })
    await running.push('ns/a')
    expect(running.waiting()).toEqual({ 'ns/a': 5 })
    await running.parts.clock.advance(5)
    expect(running.waiting()).toEqual({ 'ns/a': 10 })
    await running.parts.clock.advance(10)
    expect(running.waiting()).toEqual({})
    expect(running.records.map(({ result }) => result)).toEqual(['error', 'error', 'success'])
    await running.push('ns/a')
    expect(running.waiting(), 'the back-off starts again').toEqual({ 'ns/a': 5 })
    expect(running.parts.metrics.of('reconcile_total', 'success')).toBe(1)
    expect(running.parts.metrics.of('reconcile_total', 'error')).toBe(3)
    expect(running.parts.metrics.of('reconcile_errors_total')).toBe(3)
  })

  test('a key that fails every time is named with a fix, waits longer each time, and does not delay others', async () => {
    const overflow = (): void => overflow()
    const done: string[] = []
    await using running = runController(
      (key) => {
        if (key === 'ns/poison') overflow()
        done.push(key)
      },
      { rateLimiter, kind: Home, concurrency: 1 },
    )
    await running.push('ns/poison')
    for (let failures = 1; failures < 10; failures++) {
      expect(running.waiting()).toEqual({ 'ns/poison': 5 * 2 ** (failures - 1) })
      await running.push(`ns/${failures}`)
      await running.parts.clock.advance(5 * 2 ** (failures - 1))
    }
    expect(done).toHaveLength(9)
    const errors = running.parts.log.records.filter(({ message }) => message === 'Reconciler error')
    const fix =
      'correct the object with "kubectl edit homes.example.com poison -n ns", or delete it with "kubectl delete homes.example.com poison -n ns"'
    expect(errors.map(({ values }) => values?.['fix'])).toEqual([...Array(7).fill(undefined), fix, fix, fix])
    expect(errors.at(-1)?.values).toMatchObject({ failures: 10, Home: { name: 'poison', namespace: 'ns' } })
  })

  test('null, which reconcilers in JavaScript may return, is a success', async () => {
    await using running = runController(() => null as never)
    await running.push('ns/a', 'ns/b')
    expect(running.records.map(({ key, result }) => [key, result])).toEqual([
      ['ns/a', 'success'],
      ['ns/b', 'success'],
    ])
  })

  test('requeueAfter resets the back-off and requeues with the priority of the key or the given one', async () => {
    const outcomes: (() => KeyOutcome | void)[] = [fail('x'), () => ({ requeueAfter: '1m', priority: 7 }), fail('y')]
    await using running = runController(() => outcomes.shift()?.(), { rateLimiter })
    await running.push('ns/a')
    await running.parts.clock.advance(5)
    expect(running.runner.queue().waiting).toMatchObject([
      { key: 'ns/a', time: 60_000, priority: 7, causes: [{ event: 'requeue', count: 1 }] },
    ])
    await running.parts.clock.advance('1m')
    expect(running.waiting()).toEqual({ 'ns/a': 5 })
    expect(running.records.map(({ result }) => result)).toEqual(['error', 'requeue_after', 'error'])
    expect(running.records[1]).toMatchObject({ requeueAfterMillis: 60_000, causes: [{ event: 'retry', count: 1 }] })
    expect(running.parts.metrics.of('reconcile_total', 'requeue_after')).toBe(1)
  })

  test('requeueAfter of zero, negative or undefined means success; an invalid one is an error', async () => {
    const outcomes: unknown[] = [
      { requeueAfter: 0 },
      { requeueAfter: -5 },
      { requeueAfter: undefined },
      { requeueAfter: 'soon' },
    ]
    await using running = runController(() => outcomes.shift() as KeyOutcome, { rateLimiter })
    for (const key of ['a', 'b', 'c', 'd']) await running.push(key)
    expect(running.records.map(({ result }) => result)).toEqual(['success', 'success', 'success', 'error'])
    expect(running.waiting()).toEqual({ d: 5 })
  })

  test('TerminalError is logged and counted, not retried, and keeps the back-off', async () => {
    const errors = [new Error('x'), new Error('wrapped', { cause: new TerminalError('no such image') }), new Error('y')]
    await using running = runController(() => raise(errors.shift()), { rateLimiter })
    await running.push('ns/a')
    await running.parts.clock.advance(5)
    expect(running.waiting()).toEqual({})
    expect(running.runner.queue().ready).toEqual([])
    await running.push('ns/a')
    expect(running.waiting(), 'the second failure before it still counts').toEqual({ 'ns/a': 10 })
    expect(running.records.map(({ result }) => result)).toEqual(['error', 'terminal_error', 'error'])
    expect(running.parts.metrics.of('terminal_reconcile_errors_total')).toBe(1)
    expect(running.parts.metrics.of('reconcile_errors_total')).toBe(3)
    expect(running.parts.metrics.of('reconcile_total', 'error')).toBe(3)
    expect(errorsOf(running.parts.log)).toEqual(['Reconciler error', 'Reconciler error', 'Reconciler error'])
  })

  test('RetryLater requeues after its delay without counting as a failure', async () => {
    const errors = [new RetryLater('the volume is being made', { requeueAfter: '30s' }), undefined]
    await using running = runController(() => raise(errors.shift()))
    await running.push('ns/a')
    expect(running.waiting()).toEqual({ 'ns/a': 30_000 })
    expect(running.records).toMatchObject([{ result: 'requeue_after', requeueAfterMillis: 30_000 }])
    expect(running.parts.metrics.of('reconcile_errors_total')).toBe(0)
    expect(errorsOf(running.parts.log)).toEqual([])
    expect(() => new RetryLater('x', { requeueAfter: -1 })).toThrow('at least 0')
  })

  test('ReconcileError is a failure and retried with back-off, even if a conflict caused it', async () => {
    await using running = runController(() => raise(new ReconcileError('x', { cause: conflict() })), { rateLimiter })
    await running.push('ns/a')
    expect(running.waiting()).toEqual({ 'ns/a': 5 })
    expect(running.records).toMatchObject([{ result: 'error' }])
    expect(running.parts.metrics.of('reconcile_errors_total')).toBe(1)
  })

  test('a conflict is retried soon without an error in the log, until there are too many in a row', async () => {
    await using running = runController(() => raise(conflict()))
    await running.push('ns/a')
    expect(running.records).toMatchObject([{ result: 'conflict' }])
    expect(running.waiting()['ns/a']).toBeGreaterThanOrEqual(5)
    expect(running.waiting()['ns/a']).toBeLessThanOrEqual(6)
    expect(errorsOf(running.parts.log)).toEqual([])
    expect(running.parts.metrics.of('kubewright_reconcile_conflicts_total')).toBe(1)
    expect(running.parts.metrics.of('reconcile_errors_total')).toBe(0)
    await running.parts.clock.advance('30s')
    expect(running.parts.metrics.of('reconcile_total', 'conflict')).toBe(16)
    expect(errorsOf(running.parts.log).length).toBeGreaterThan(0)
  })

  test('a field manager conflict is an error, because it does not resolve itself', async () => {
    const error = newApplyConflict([], 'Apply failed with 1 conflict')
    const withCause = new ApiError({
      ...error.status,
      details: {
        causes: [{ reason: 'FieldManagerConflict', field: '.spec.replicas', message: 'conflict with "kubectl"' }],
      },
    })
    await using running = runController(() => raise(withCause))
    await running.push('ns/a')
    expect(running.records).toMatchObject([{ result: 'error' }])
  })

  test('NotFound is not logged as an error while the object is deleted or being deleted', async () => {
    await using running = runController(() => raise(newNotFound(homes, 'child')))
    const cached = running.parts.cluster.of(Home)
    cached.leases = 1
    cached.put(objectOf(Home, 'there', 1))
    cached.put(objectOf(Home, 'going', 1, { metadata: { deletionTimestamp: '2025-01-01T00:00:00Z' } }))
    await running.push('ns/there', 'ns/going', 'ns/gone')
    expect(running.records.map(({ key, result }) => `${key} ${result}`)).toEqual([
      'ns/there error',
      'ns/going conflict',
      'ns/gone conflict',
    ])
  })

  test('an error with a Retry-After time is not retried earlier', async () => {
    await using running = runController(() => raise(newTooManyRequests('busy', 7)), { rateLimiter })
    await running.push('ns/a')
    expect(running.waiting()).toEqual({ 'ns/a': 7000 })
  })

  test('back-off has up to 20 % jitter unless a rate limiter is given', async () => {
    await using running = runController(() => raise(new Error('x')))
    await running.push('a', 'b', 'c')
    const waits = Object.values(running.waiting())
    expect(waits.every((wait) => wait >= 5 && wait <= 6)).toBe(true)
    expect(new Set(waits).size).toBeGreaterThan(1)
  })

  test('retries keep the priority of the key', async () => {
    await using running = runController(() => raise(new Error('x')))
    running.source.push('a', { priority: 3 })
    await running.push()
    expect(running.runner.queue().waiting).toMatchObject([{ key: 'a', priority: 3 }])
  })
})

describe('an error of a reconcile', () => {
  test.each([
    ['an Error', new Error('x'), 0],
    ['a text', 'x', 1],
    ['undefined', undefined, 1],
    ['null', null, 1],
    ['a TypeError of the language', new TypeError('x is not a function'), 1],
    ['a TypeError of a library', new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }), 0],
  ])('%s is logged, counted and retried, whether thrown or rejected', async (_name, error, panics) => {
    for (const reconcile of [() => raise(error, true), async () => raise(error, true)]) {
      await using running = runController(reconcile, { rateLimiter })
      await running.push('ns/a')
      expect(running.records).toMatchObject([{ result: 'error' }])
      expect(running.waiting()).toEqual({ 'ns/a': 5 })
      expect(running.parts.metrics.of('reconcile_panics_total')).toBe(panics)
      expect(running.parts.log.records.find((record) => 'error' in record)).toMatchObject({ error })
    }
  })
})

test('an error in a gate or a rate limiter loses neither the key nor the process', async () => {
  const broken = { when: () => Number.NaN, forget: () => undefined, numRequeues: () => 0 }
  await using limited = runController(fail('x'), { rateLimiter: () => broken })
  await limited.push('ns/a')
  expect(limited.waiting()).toEqual({ 'ns/a': 60_000 })
  const keyGate = {
    hold: () => raise(new Error('no lease')) as never,
    onChange: () => ({ [Symbol.dispose]: () => undefined }),
  }
  await using gated = runController(() => undefined, { rateLimiter }, { keyGate })
  await gated.push('ns/a')
  expect(gated.waiting()).toEqual({ 'ns/a': 5 })
  expect(gated.runner.queue().processing).toEqual([])
})

test('a write that is rejected because the process no longer leads does not count as an error of the reconciler', async () => {
  const error = new KubewrightError('KW_NOT_LEADER', 'not the leader')
  await using running = runController(() => raise(error), { rateLimiter })
  await running.push('ns/a')
  expect(errorsOf(running.parts.log)).toEqual([])
  expect(running.waiting()).toEqual({ 'ns/a': 5 })
})

test.each(['timeout', 'hangAfter', 'syncTimeout'] as const)('defineKeyController() rejects %s of zero', (field) => {
  const options = { name: 'test', sources: [channelSource()], reconcile: () => undefined, [field]: 0 }
  expect(() => defineKeyController(options)).toThrow(
    `Cannot define controller "test" as '${field}' must be greater than 0: 0`,
  )
})

describe('controller metrics', () => {
  test('exist at zero before the first reconcile', async () => {
    await using running = runController(() => undefined, { concurrency: 4 })
    const { metrics } = running.parts
    for (const result of ['success', 'error', 'requeue', 'requeue_after', 'conflict']) {
      expect(metrics.of('reconcile_total', result), result).toBe(0)
    }
    for (const name of ['errors', 'panics', 'timeouts']) {
      expect(metrics.of(`reconcile_${name}_total`), name).toBe(0)
    }
    expect(metrics.of('terminal_reconcile_errors_total')).toBe(0)
    expect(metrics.of('kubewright_reconcile_conflicts_total')).toBe(0)
    expect(metrics.of('kubewright_hot_loops_total')).toBe(0)
    expect(metrics.of('max_concurrent_reconciles')).toBe(4)
    expect(metrics.of('active_workers')).toBe(0)
  })

  test('active_workers counts the running reconciles', async () => {
    const gate = new Deferred()
    await using running = runController(() => gate.promise, { concurrency: 3 })
    await running.push('a', 'b', 'c', 'd')
    expect(running.parts.metrics.of('active_workers')).toBe(3)
    gate.resolve()
    await running.push()
    expect(running.parts.metrics.of('active_workers')).toBe(0)
    expect(running.parts.metrics.of('reconcile_time_seconds_count')).toBe(4)
  })
})

describe('the context of a reconcile', () => {
  test('has a log with the values of controller-runtime', async () => {
    await using running = runController((_key, { log }) => log.info('hello'))
    await running.push('ns/a')
    const { values } = running.parts.log.records.find(({ message }) => message === 'hello')!
    expect(values).toEqual({
      controller: 'test',
      controllerGroup: 'example.com',
      controllerKind: 'Home',
      Home: { name: 'a', namespace: 'ns' },
      namespace: 'ns',
      name: 'a',
      reconcileID: running.records[0]?.reconcileID,
    })
  })

  test('keeps all members in a spread', async () => {
    const seen: KeyContext[] = []
    await using running = runController((_key, context) => {
      const copy = { ...context }
      expect(copy.signal).toBe(context.signal)
      expect(copy.log).toBe(context.log)
      seen.push(copy)
    })
    await running.push('ns/a')
    expect(Object.keys(seen[0]!).sort()).toEqual(
      'causes client cluster clusters events log now reconcileID signal waitsFor watch'.split(' '),
    )
    expect(Object.values(seen[0]!).filter((value) => value === undefined)).toEqual([])
  })

  test('logs other keys as they are, and keys of clusters with the name of the cluster', async () => {
    await using running = runController((_key, { log }) => log.info('hello'))
    await running.push('a/b/c', 'east//ns/a')
    const lines = running.parts.log.records.filter(({ message }) => message === 'hello')
    expect(lines[0]?.values).toMatchObject({ request: 'a/b/c' })
    expect(lines[1]?.values).toMatchObject({ cluster: 'east', namespace: 'ns', name: 'a' })
  })

  test('has a reconcileID that is a UUID and unique per run', async () => {
    const ids: string[] = []
    await using running = runController((_key, { reconcileID }) => void ids.push(reconcileID))
    await running.push('a', 'b')
    expect(new Set(ids).size).toBe(2)
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  test("has a now() that follows the manager's clock", async () => {
    const later = new Deferred<void>()
    const times: number[] = []
    await using running = runController(async (_key, { now }) => {
      times.push(now().getTime())
      await later.promise
      times.push(now().getTime())
    })
    const start = running.parts.clock.now()
    await running.push('a')
    await running.parts.clock.advance('50s')
    later.resolve()
    await running.push()
    expect(times).toEqual([start, start + 50_000])
  })

  test('has causes that are empty for a plain add', async () => {
    const seen: unknown[] = []
    await using running = runController((_key, { causes }) => void seen.push(causes))
    running.source.push('a')
    running.source.push('a', { cause: { event: 'update', kind: 'v1 Pod', object: 'ns/p', paths: ['status'] } })
    await running.push()
    expect(seen).toEqual([
      [
        { event: 'other', kind: 'channel', count: 1 },
        { event: 'update', kind: 'v1 Pod', object: 'ns/p', paths: ['status'], count: 1 },
      ],
    ])
  })

  test('has a signal that aborts at the timeout, which is counted; the reconcile itself is not cancelled', async () => {
    const reasons: unknown[] = []
    const reconcile = async (_key: string, { signal }: KeyContext): Promise<void> => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      reasons.push(signal.reason)
    }
    await using running = runController(reconcile, { timeout: '10s' })
    await running.push('ns/a')
    await running.parts.clock.advance('9s')
    expect(running.records).toEqual([])
    await running.parts.clock.advance('1s')
    expect(reasons).toMatchObject([
      {
        code: 'KW_DEADLINE_EXCEEDED',
        message: 'Timed out after 10s: reconcile of "ns/a" by controller "test"',
      },
    ])
    expect(running.records).toMatchObject([{ result: 'success', durationMillis: 10_000 }])
    expect(running.parts.metrics.of('reconcile_timeouts_total')).toBe(1)
    await running.push('ns/b')
    expect(running.parts.clock.pending.filter(({ label }) => label === 'reconcile timeout')).toHaveLength(1)
  })

  test('has a signal that is already aborted when first read after the timeout', async () => {
    const parts = testParts()
    const seen: boolean[] = []
    const reconcile = async (_key: string, context: KeyContext): Promise<void> => {
      await parts.clock.sleep(20_000)
      seen.push(context.signal.aborted)
    }
    await using running = runController(reconcile, { timeout: '10s' }, parts)
    await running.push('ns/a')
    await running.parts.clock.advance('20s')
    expect(seen).toEqual([true])
  })

  test('runs in spans that describe the reconcile and fail with it', async () => {
    const spans: unknown[] = []
    const tracer: Tracer = {
      span: (name, attributes, work) => {
        const span: unknown[] = [name, attributes]
        if (name === 'reconcile') spans.push(span)
        return work({ set: () => undefined, fail: (error) => void span.push(error), end: () => undefined })
      },
    }
    const error = new Error('x')
    await using running = runController((key) => (key === 'ns/a' ? undefined : Promise.reject(error)), {}, { tracer })
    await running.push('ns/a', 'ns/b')
    const [first, second] = running.records
    const attributes = {
      'controller.name': 'test',
      'controller.kind': 'Home',
      'queue.priority': 0,
      'queue.wait_millis': 0,
    }
    expect(spans).toMatchObject([
      ['reconcile', { ...attributes, 'reconcile.key': 'ns/a', 'reconcile.id': first?.reconcileID }],
      ['reconcile', { ...attributes, 'reconcile.key': 'ns/b', 'reconcile.id': second?.reconcileID }, error],
    ])
  })
})

describe('workers', () => {
  test('need little more than 1,000 reconciles for 200,000 adds of 1,000 keys', async () => {
    const parts = testParts({ log: memoryLogger(0) })
    await using running = runController(async () => parts.clock.sleep(1), { concurrency: 10 }, parts)
    for (let i = 0; i < 200_000; i++) running.source.push(`ns/${i % 1000}`)
    await running.parts.clock.advance('1s')
    expect(running.parts.metrics.of('reconcile_total', 'success')).toBeLessThanOrEqual(1100)
    expect(running.parts.metrics.of('reconcile_total', 'success')).toBeGreaterThanOrEqual(1000)
  })

  test('pause regularly, so that synchronous reconciles do not block timers', async () => {
    let now = 0
    const parts = testParts()
    const { clock } = parts
    // Time passes while the reconciler runs.
    const busy = Object.assign(Object.create(clock) as typeof clock, {
      monotonic: () => now,
      setTimer: clock.setTimer.bind(clock),
      now: () => 0,
      sleep: clock.sleep.bind(clock),
    })
    let done = 0
    const reconcile = (): void => {
      now += 1
      done++
    }
    await using running = runController(reconcile, {}, { clock: busy })
    for (let i = 0; i < 100; i++) running.source.push(`k${i}`)
    const seen: number[] = []
    for (let i = 0; i < 3; i++) clock.setTimer(0, () => seen.push(done))
    await clock.advance(0)
    expect(seen[0]).toBeLessThan(30)
    expect(done).toBe(100)
  })

  test('leave keys in the queue while paused, and take one for each step', async () => {
    await using running = runController(() => undefined)
    const { runner, records } = running
    const keys = (): string[] => records.map(({ key }) => key)
    runner.pause()
    await running.push('a', 'b', 'c')
    expect(keys()).toEqual([])
    expect(runner.isPaused).toBe(true)
    runner.step()
    await running.push()
    expect(keys()).toEqual(['a'])
    expect(runner.queue().ready.map(({ key }) => key)).toEqual(['b', 'c'])
    runner.resume()
    await running.push()
    expect(keys()).toEqual(['a', 'b', 'c'])
    runner.step()
    expect(runner.isPaused).toBe(true)
    await running.push()
    await running.push('d', 'e')
    expect(keys(), 'a step waits for a key').toEqual(['a', 'b', 'c', 'd'])
    runner.step()
    runner.pause()
    await running.push()
    expect(
      runner.queue().ready.map(({ key }) => key),
      'pause() drops steps',
    ).toEqual(['e'])
  })

  test('log an error of a listener and continue', async () => {
    await using running = runController(() => undefined)
    const seen: string[] = []
    const bad = running.runner.onReconciled(() => raise(new Error('listener')))
    running.runner.onReconciled(({ key }) => seen.push(key))
    await running.push('a')
    bad[Symbol.dispose]()
    await running.push('b')
    expect(seen).toEqual(['a', 'b'])
    expect(errorsOf(running.parts.log)).toEqual(['Reconcile listener failed'])
  })

  test('recent() returns the last hundred reconciles, newest first', async () => {
    await using running = runController(() => undefined)
    for (let i = 0; i < 130; i++) running.source.push(`k${i}`)
    await running.push()
    const keys = running.runner.recent().map(({ key }) => key)
    expect(keys).toHaveLength(100)
    expect([keys[0], keys[99]]).toEqual(['k129', 'k30'])
  })
})

describe('a reconcile that hangs', () => {
  test('is reported every minute with what it waits for, and is a problem until it ends', async () => {
    const gate = new Deferred()
    const reconcile = async (_key: string, { waitsFor }: KeyContext): Promise<void> => {
      waitsFor('the DNS provider')
      await gate.promise
    }
    await using running = runController(reconcile)
    await running.push('ns/a')
    await running.parts.clock.advance('59s')
    expect(running.runner.problems()).toEqual([])
    await running.parts.clock.advance('2m')
    const warnings = running.parts.log.records.filter(({ message }) => message.includes('still running'))
    expect(warnings.map(({ values }) => [values['name'], values['runningFor'], values['waitingFor']])).toEqual([
      ['a', '1m0s', 'the DNS provider'],
      ['a', '2m0s', 'the DNS provider'],
    ])
    expect(running.runner.problems()).toEqual([
      'Reconcile of "ns/a" has been running for 2m59s, waiting for the DNS provider',
    ])
    gate.resolve()
    await running.push()
    expect(running.runner.problems()).toEqual([])
    expect(running.parts.clock.pending).toEqual([])
  })
})

function raise(error: unknown, even = false): undefined {
  if (error === undefined && !even) return undefined
  throw error
}

function fail(message: string): () => never {
  return () => {
    throw new Error(message)
  }
}
