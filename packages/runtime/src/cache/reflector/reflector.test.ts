import {
  type KubeObject,
  newForbidden,
  newInternalError,
  newNotFound,
  newResourceExpired,
  newTooLargeResourceVersion,
  newTooManyRequests,
} from '@kubewright/api'
import { Deferred, memoryLogger, seededRandom, VirtualClock } from '@kubewright/base'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { applyDelta } from '../informer/change.ts'
import { Indexer } from '../store/indexer.ts'
import { FakeSource, objectOf } from '../testdata/fake-source.ts'
import { DeltaFifo } from './delta-fifo.ts'
import { Reflector, type ReflectorOptions } from './reflector.ts'

const resource = { group: 'example.com', version: 'v1', resource: 'things' }
const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

// Whether the source returns encoded objects.
let encodes = false

function setUp(options: Partial<ReflectorOptions<KubeObject>> = {}) {
  const clock = new VirtualClock()
  const source = new FakeSource()
  source.encodes = encodes
  const log = memoryLogger(0)
  const fifo = new DeltaFifo<KubeObject>()
  const store = new Indexer<KubeObject>()
  const random = seededRandom(1)
  const reflector = new Reflector({ source, target: fifo, resource, clock, random, log, ...options })
  const types: string[] = []
  const settle = (): void => {
    for (let delta = fifo.pop(); delta !== undefined; delta = fifo.pop()) {
      types.push(delta.type)
      applyDelta(store, delta, false)
    }
  }
  const advance = async (time: number): Promise<void> => {
    await clock.advance(time)
    settle()
  }
  const controller = new AbortController()
  const start = (): void => {
    const running = reflector.run(controller.signal)
    stops.push(async () => {
      controller.abort()
      await running
      expect(clock.pending).toEqual([])
    })
  }
  return { clock, source, log, store, reflector, start, advance, types, controller }
}

describe.each([
  ['parsed', false],
  ['encoded', true],
])('Reflector.run() of %s objects', (_, asBytes) => {
  beforeEach(() => {
    encodes = asBytes
  })

  test('opens its watch with the first object of a resource that has none', async () => {
    const { source, store, start, advance, types, reflector } = setUp()
    const first = new Deferred()
    source.absence = () => ({ resourceVersion: String(source.version), ended: first.promise })
    start()
    await advance(0)
    expect([source.requests, types]).toEqual([[], ['Replaced']])
    expect([reflector.lastSyncResourceVersion, reflector.health.state]).toEqual(['1', 'watching'])
    source.set('a')
    source.set('b')
    source.remove('b')
    source.absence = () => undefined
    first.resolve()
    await advance(0)
    expect(source.requests).toEqual(['watch rv=1'])
    expect([store.keys(), reflector.lastSyncResourceVersion]).toEqual([['ns/a'], '4'])
    expect(types).toEqual(['Replaced', 'Added', 'Added', 'Deleted', 'Bookmark'])
  })

  test('lists again when the version of an absence has expired', async () => {
    const { source, store, start, advance } = setUp()
    const first = new Deferred()
    source.absence = () => ({ resourceVersion: String(source.version), ended: first.promise })
    start()
    await advance(0)
    source.set('a')
    source.compacted = source.version
    source.absence = () => undefined
    first.resolve()
    await advance(5000)
    expect(store.keys()).toEqual(['ns/a'])
  })

  test('streams the initial state, replaces the target once, and continues with the same stream', async () => {
    const { source, store, start, advance, types, reflector } = setUp()
    source.set('a')
    source.set('b')
    start()
    await advance(0)
    expect(source.requests).toEqual(['watch rv= initial'])
    expect(types).toEqual(['Replaced'])
    expect([store.keys(), reflector.lastSyncResourceVersion, reflector.health.state]).toEqual([
      ['ns/a', 'ns/b'],
      '3',
      'watching',
    ])
    source.set('c')
    source.remove('a')
    await advance(0)
    expect(store.keys()).toEqual(['ns/b', 'ns/c'])
    expect([store.resourceVersion, reflector.lastSyncResourceVersion]).toEqual(['5', '5'])
    expect(source.requests).toHaveLength(1)
  })

  test('keeps events that arrive in the same batch as the end mark', async () => {
    const { source, store, start, advance } = setUp()
    source.onWatch = ({ stream }) => {
      const mark = { type: 'BOOKMARK', resourceVersion: '5', initialEventsEnd: true } as const
      stream.push([{ type: 'ADDED', object: objectOf('a', 4) }, mark, { type: 'ADDED', object: objectOf('b', 6) }])
      return false
    }
    start()
    await advance(0)
    expect([store.keys(), store.resourceVersion]).toEqual([['a', 'b'], '6'])
  })

  test('lists in pages when the end mark does not arrive in time, and does not stream again', async () => {
    const { source, store, start, advance, log } = setUp({ pageSize: 2 })
    for (const name of ['a', 'b', 'c']) source.set(name)
    source.sendsBookmarks = false
    start()
    await advance(9_999)
    expect(store.size).toBe(0)
    await advance(1)
    expect(source.requests).toEqual([
      'watch rv= initial',
      'list rv=0 limit=2',
      'list rv= limit=2 continue=2',
      'watch rv=4',
    ])
    expect(store.size).toBe(3)
    expect(log.records.map((record) => record.message)).toEqual(['Initial events did not end in time; listing instead'])
  })

  test('lists in one piece after a continue token has expired', async () => {
    const { source, store, start, advance } = setUp({ useWatchList: false, pageSize: 1 })
    source.set('a')
    source.set('b')
    source.fault = (_verb, options) => {
      if ('continue' in options) throw newResourceExpired('continue token expired')
    }
    start()
    await advance(0)
    expect(source.requests).toEqual(['list rv=0 limit=1', 'list rv= limit=1 continue=1', 'list rv=0', 'watch rv=3'])
    expect(store.size).toBe(2)
  })

  test('resumes from the last version, including bookmarks, when the server ends the watch', async () => {
    const { source, start, advance } = setUp()
    start()
    source.set('a')
    await advance(5000)
    source.version = 77
    source.bookmark()
    await advance(0)
    source.cut()
    await advance(0)
    expect(source.requests).toEqual(['watch rv= initial', 'watch rv=77'])
  })

  test('streams from the last version after a 410, then the newest state', async () => {
    const { source, store, start, advance } = setUp()
    source.set('a')
    start()
    await advance(5000)
    source.removeUnseen('a')
    source.compacted = 1000
    source.cut(newResourceExpired('too old resource version'))
    await advance(2000)
    expect(source.requests).toEqual(['watch rv= initial', 'watch rv=2 initial', 'watch rv= initial'])
    expect(store.size).toBe(0)
  })

  test('lists from the last version in one piece after a 410, then the newest state, when it does not stream', async () => {
    const { source, start, advance } = setUp({ useWatchList: false })
    source.set('a')
    start()
    await advance(5000)
    source.fault = (verb, { resourceVersion }) => {
      if (verb === 'list' && resourceVersion !== '') throw newTooLargeResourceVersion(resourceVersion, '1', 1)
    }
    source.cut(newResourceExpired('too old resource version'))
    await advance(2000)
    expect(source.requests).toEqual([
      'list rv=0 limit=500',
      'watch rv=2',
      'list rv=2',
      'list rv= limit=500',
      'watch rv=2',
    ])
  })

  test.each([
    ['429', newTooManyRequests('busy', 1)],
    ['an unreachable server', new Error('connect ECONNREFUSED')],
  ])('backs off after %s and resumes the watch from the same version, without a list', async (_name, error) => {
    const { source, start, advance, reflector } = setUp()
    start()
    await advance(5000)
    let failures = 3
    source.fault = () => {
      if (failures-- > 0) throw error
    }
    source.cut()
    await advance(0)
    expect(reflector.health.state).toBe('failing')
    await advance(30_000)
    expect(source.requests.slice(1)).toEqual(['watch rv=1', 'watch rv=1', 'watch rv=1', 'watch rv=1'])
    expect(reflector.health).toMatchObject({ state: 'watching', failures: 0 })
  })

  test('lists again after any other error of a watch', async () => {
    const { source, start, advance } = setUp({ useWatchList: false })
    start()
    await advance(5000)
    source.cut(newInternalError('etcd is unwell'))
    await advance(2000)
    expect(source.requests).toEqual(['list rv=0 limit=500', 'watch rv=1', 'list rv=1', 'watch rv=1'])
  })

  test('counts a watch that ends at once without an event as a failure', async () => {
    const { source, start, advance, reflector } = setUp({ useWatchList: false })
    source.onWatch = ({ stream }) => {
      stream.close()
      return false
    }
    start()
    await advance(0)
    expect(reflector.health.message).toContain('very short watch')
    source.onWatch = () => true
    await advance(2000)
    expect(reflector.health.state).toBe('watching')
  })

  test('backs off from 800 ms to 30 s, with up to 100 % jitter', async () => {
    const { clock, source, start } = setUp({ useWatchList: false })
    const times: number[] = []
    source.fault = () => {
      times.push(clock.monotonic())
      throw newInternalError('down')
    }
    start()
    await clock.advance(300_000)
    const gaps = times.slice(1).map((time, i) => time - (times[i] ?? 0))
    gaps.forEach((gap, i) => {
      const base = Math.min(800 * 2 ** i, 30_000)
      expect(gap).toBeGreaterThanOrEqual(base)
      expect(gap).toBeLessThanOrEqual(2 * base)
    })
    expect(gaps.length).toBeGreaterThan(8)
  })

  test('aborts a watch that stalls, and a list that exceeds its time limit', async () => {
    const { source, start, advance, reflector } = setUp({ useWatchList: false })
    start()
    await advance(631_000)
    expect(source.requests).toEqual(['list rv=0 limit=500', 'watch rv=1', 'watch rv=1'])
    source.list = () => new Promise(() => undefined)
    source.cut(newResourceExpired('old'))
    await advance(130_000)
    expect(reflector.health.message).toBe(
      'Cannot list things.example.com: Timed out after 2m0s: list things.example.com',
    )
  })

  test('ignores the versions of unordered events in a watch without a version', async () => {
    const { source, start, advance, reflector } = setUp({ useWatchList: false })
    source.version = 0
    source.onWatch = ({ stream }) => {
      stream.push([
        { type: 'ADDED', object: objectOf('b', 9) },
        { type: 'ADDED', object: objectOf('a', 4) },
      ])
      return false
    }
    start()
    await advance(0)
    expect(reflector.lastSyncResourceVersion).toBe('0')
    source.watches[0]?.stream.push([{ type: 'MODIFIED', object: objectOf('a', 10) }])
    await advance(0)
    expect(reflector.lastSyncResourceVersion).toBe('10')
  })

  test('drops and logs objects of another kind', async () => {
    const { source, store, start, advance, log } = setUp({ expected: { apiVersion: 'example.com/v1', kind: 'Thing' } })
    start()
    await advance(0)
    const table = { ...objectOf('t', 5), apiVersion: 'meta.k8s.io/v1', kind: 'Table' }
    source.watches[0]?.stream.push([
      { type: 'ADDED', object: table },
      { type: 'ADDED', object: objectOf('a', 6) },
    ])
    await advance(0)
    expect(store.keys()).toEqual(['a'])
    expect(log.records).toMatchObject([
      { message: 'Dropped a watch event with an unexpected kind or without a name', values: { kind: 'Table' } },
    ])
  })

  test('waits for the Retry-After time of an overloaded server', async () => {
    const { clock, source, start } = setUp({ useWatchList: false })
    const times: number[] = []
    source.fault = () => {
      times.push(clock.monotonic())
      if (times.length === 1) throw newTooManyRequests('busy', 25)
    }
    start()
    await clock.advance(26_000)
    expect(times).toEqual([0, 25_000, 25_000])
  })

  test('ignores events that are older than the last version', async () => {
    const { source, store, start, advance } = setUp()
    const old = source.set('a')
    start()
    source.set('a')
    await advance(0)
    source.watches[0]?.stream.push([{ type: 'MODIFIED', object: old }])
    await advance(0)
    expect(store.get('ns/a')?.metadata.resourceVersion).toBe('3')
  })
})

describe('Reflector.health', () => {
  test.each([
    [
      newForbidden({ group: 'example.com', resource: 'things' }, '', 'no RBAC'),
      'Cannot list things.example.com: things.example.com is forbidden: no RBAC',
      'Grant this client the verbs list and watch on things.example.com, for example with a ClusterRole and a binding',
      true,
    ],
    [
      newNotFound({ group: 'example.com', resource: 'things' }, ''),
      'Cannot list things.example.com: things.example.com "" not found',
      'Install the API that serves things.example.com in version v1, for example its CustomResourceDefinition with npx kubewright install',
      false,
    ],
  ])('reports the fix of %s, logs it once, and recovers', async (error, message, fix, isError) => {
    const { source, start, advance, reflector, log } = setUp()
    source.fault = () => {
      throw error
    }
    start()
    await advance(120_000)
    expect(reflector.health).toMatchObject({ state: 'failing', message, fix })
    expect(reflector.health.failures).toBeGreaterThan(3)
    expect(log.records).toMatchObject([{ message, values: { fix }, ...(isError ? {} : { isWarning: true }) }])
    // Whether a missing resource is an error is up to its users.
    expect(log.records.map((record) => record.error === error)).toEqual([isError])
    source.fault = () => undefined
    await advance(60_000)
    expect(reflector.health.state).toBe('watching')
    expect(log.records.at(-1)?.message).toBe('Recovered')
  })

  test('is stopped after an abort', async () => {
    const { start, advance, reflector, controller } = setUp()
    start()
    await advance(0)
    controller.abort()
    await advance(0)
    expect(reflector.health.state).toBe('stopped')
  })
})
