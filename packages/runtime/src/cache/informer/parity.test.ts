// The rules that programs written for client-go and controller-runtime rely on, one test each. Details of each part are
// tested beside its source.
import { type KubeObject, newResourceExpired } from '@kubewright/api'
import { nullLogger, seededRandom, VirtualClock } from '@kubewright/base'
import { afterEach, describe, expect, test } from 'vitest'
import { PriorityQueue } from '../../queue/priority-queue.ts'
import type { Queue } from '../../queue/queue.ts'
import { itemExponentialRateLimiter } from '../../queue/rate-limiter.ts'
import { WorkQueue } from '../../queue/work-queue.ts'
import { FakeSource, objectOf } from '../testdata/fake-source.ts'
import { SharedInformer } from './shared-informer.ts'

const queues: readonly (readonly [string, (clock: VirtualClock) => Queue])[] = [
  ['WorkQueue', (clock) => new WorkQueue({ clock, rateLimiter: itemExponentialRateLimiter() })],
  ['PriorityQueue', (clock) => new PriorityQueue({ clock })],
]

const taken = (queue: Queue): string[] => {
  const keys: string[] = []
  for (let next = queue.tryGet(); next !== undefined; next = queue.tryGet()) keys.push(`${next.key}@${next.priority}`)
  return keys
}

describe.each(queues)('%s, as workqueue and priorityqueue', (name, make) => {
  test('dirty and processing: adds of a key in process cause one more turn, never a parallel one', () => {
    const queue = make(new VirtualClock())
    for (let i = 0; i < 3; i++) queue.add('a')
    expect(queue.tryGet()?.key).toBe('a')
    for (let i = 0; i < 3; i++) queue.add('a')
    expect(queue.tryGet()).toBeUndefined()
    queue.done('a')
    expect(queue.tryGet()?.key).toBe('a')
    queue.done('a')
    expect(queue.tryGet()).toBeUndefined()
  })

  test('of several delays the earliest applies, in any order, and the highest priority', async () => {
    const clock = new VirtualClock()
    const queue = make(clock)
    queue.addAfter('a', 3000, { priority: 9 })
    queue.addAfter('a', 1000, { priority: 1 })
    queue.addAfter('a', 2000, { priority: 5 })
    await clock.advance(999)
    expect(taken(queue)).toEqual([])
    await clock.advance(1)
    expect(taken(queue)).toEqual([name === 'PriorityQueue' ? 'a@9' : 'a@0'])
    queue.done('a')
    await clock.advance(5000)
    expect(taken(queue)).toEqual([])
  })

  test('a key with a delay that fails is due at the smaller of its two delays', async () => {
    const clock = new VirtualClock()
    const queue = make(clock)
    queue.addAfter('a', 3)
    queue.addRateLimited('a')
    await clock.advance(3)
    expect(taken(queue)).toEqual(['a@0'])
  })

  test('Forget resets the back-off only: the key stays in the queue, and plain adds do not count as requeues', async () => {
    const clock = new VirtualClock()
    const queue = make(clock)
    queue.addRateLimited('a')
    queue.addRateLimited('a')
    queue.add('b')
    queue.addAfter('b', 5)
    expect([queue.numRequeues('a'), queue.numRequeues('b')]).toEqual([2, 0])
    queue.forget('a')
    expect(queue.numRequeues('a')).toBe(0)
    await clock.advance(10)
    expect(taken(queue)).toContain('a@0')
    queue.done('a')
    // Without another Forget the next failure would wait longer than the first.
    queue.addRateLimited('a')
    await clock.advance(5)
    expect(taken(queue)).toEqual(['a@0'])
  })

  test('an add after the start of a shutdown is ignored', async () => {
    const queue = make(new VirtualClock())
    const report = await queue.shutDown()
    queue.add('a')
    queue.addAfter('a', 1)
    queue.addRateLimited('a')
    expect([await queue.get(), queue.length, report.dropped]).toEqual([undefined, 0, []])
  })
})

const informers: SharedInformer<KubeObject>[] = []
afterEach(async () => {
  for (const informer of informers.splice(0)) await informer.stop()
})

function setUp(options: { readonly useWatchList?: boolean } = {}) {
  const clock = new VirtualClock()
  const source = new FakeSource()
  source.encodes = true
  const informer = new SharedInformer<KubeObject>({
    source,
    resource: { group: 'example.com', version: 'v1', resource: 'things' },
    clock,
    random: seededRandom(3),
    log: nullLogger,
    reflector: options,
  })
  informers.push(informer)
  return { clock, source, informer }
}

describe('SharedInformer, as cache.SharedIndexInformer', () => {
  test('HasSynced of a handler is set after its last initial add, that of the informer with the store', async () => {
    const { clock, source, informer } = setUp()
    source.set('a')
    source.set('b')
    const calls: string[] = []
    const slow = informer.addHandler({
      onAdd: async ({ metadata }) => {
        await clock.sleep(1000)
        calls.push(metadata.name)
      },
    })
    const quick = informer.addHandler({})
    informer.start()
    await clock.advance(0)
    expect([informer.hasSynced, quick.hasSynced, slow.hasSynced, calls]).toEqual([true, true, false, []])
    await clock.advance(1000)
    expect([slow.hasSynced, calls]).toEqual([false, ['a']])
    await clock.advance(1000)
    expect([slow.hasSynced, calls]).toEqual([true, ['a', 'b']])
  })

  test('DeletedFinalStateUnknown: a deletion that the watch missed is delivered with the last state that was seen', async () => {
    const { clock, source, informer } = setUp({ useWatchList: false })
    const calls: string[] = []
    informer.addHandler({
      onDelete: ({ metadata }, { finalStateUnknown }) =>
        void calls.push(`${metadata.name}@${metadata.resourceVersion} ${finalStateUnknown}`),
    })
    source.set('seen')
    source.set('unseen')
    informer.start()
    await clock.advance(0)
    source.remove('seen')
    await clock.advance(0)
    source.removeUnseen('unseen')
    source.cut(newResourceExpired('too old resource version'))
    await clock.advance(120_000)
    expect(calls).toEqual(['seen@4 false', 'unseen@3 true'])
  })

  test('an object that was deleted and recreated between two lists is delivered as an update between two uids', async () => {
    const { clock, source, informer } = setUp({ useWatchList: false })
    const calls: string[] = []
    informer.addHandler({
      onUpdate: (before, after) => void calls.push(`${before.metadata.uid} ${after.metadata.uid}`),
    })
    source.set('a')
    informer.start()
    await clock.advance(0)
    source.removeUnseen('a')
    const recreated = objectOf('a', ++source.version, { namespace: 'ns' })
    source.objects.set('ns/a', { ...recreated, metadata: { ...recreated.metadata, uid: 'another' } })
    source.cut(newResourceExpired('too old resource version'))
    await clock.advance(120_000)
    expect(calls).toEqual(['uid-a another'])
  })

  test('an update in the same version is a resync, and is delivered to handlers that are due for one only', async () => {
    const { clock, source, informer } = setUp({ useWatchList: false })
    const calls: string[] = []
    const tell = (name: string) => ({
      onUpdate: (_: KubeObject, after: KubeObject, info: { readonly isResync: boolean }) =>
        void calls.push(`${name} ${after.metadata.resourceVersion} ${info.isResync}`),
    })
    source.set('a')
    informer.addHandler(tell('never'))
    // Periods below a second are raised to a second.
    const often = informer.addHandler(tell('often'), { resyncPeriod: 10 })
    informer.start()
    await clock.advance(0)
    source.cut(newResourceExpired('too old resource version'))
    await clock.advance(900)
    expect(calls).toEqual([])
    await clock.advance(100)
    expect(calls).toEqual(['often 2 true'])
    often.remove()
    await clock.advance(60_000)
    source.set('a')
    await clock.advance(0)
    expect(calls).toEqual(['often 2 true', 'never 3 false'])
  })

  test('after a 410 the state is requested from the last version first, then the newest', async () => {
    const { clock, source, informer } = setUp({ useWatchList: false })
    source.set('a')
    informer.start()
    await clock.advance(0)
    source.requests.length = 0
    let refusals = 0
    source.fault = (verb, { resourceVersion }) => {
      if (verb === 'list' && resourceVersion !== '' && refusals++ === 0) throw newResourceExpired('too old')
    }
    source.cut(newResourceExpired('too old resource version'))
    await clock.advance(60_000)
    expect(source.requests.slice(0, 3)).toEqual(['list rv=2', 'list rv= limit=500', 'watch rv=2'])
  })

  test('the initial state of a stream is applied when its bookmark arrives', async () => {
    const { clock, source, informer } = setUp()
    source.set('a')
    source.sendsBookmarks = false
    informer.start()
    await clock.advance(1000)
    expect([informer.hasSynced, informer.store.size]).toEqual([false, 0])
    const mark = { type: 'BOOKMARK', resourceVersion: '7', initialEventsEnd: true } as const
    for (const { stream } of source.watches) stream.push([mark])
    await clock.advance(0)
    expect([informer.hasSynced, informer.store.size, informer.store.resourceVersion]).toEqual([true, 1, '7'])
  })

  test('an ordinary bookmark moves the version of the store without calling handlers', async () => {
    const { clock, source, informer } = setUp()
    let calls = 0
    informer.addHandler({ onChange: () => void calls++ })
    source.set('a')
    informer.start()
    await clock.advance(0)
    source.version = 50
    source.bookmark()
    await clock.advance(0)
    expect([informer.store.resourceVersion, calls]).toEqual(['50', 1])
    source.requests.length = 0
    source.cut()
    await clock.advance(60_000)
    expect(source.requests[0]).toBe('watch rv=50')
  })
})
