import { type Random, seededRandom, VirtualClock } from '@kubewright/base'
import { openDurableStore, type Store } from '@kubewright/storage'
import { describe, expect, test } from 'vitest'
import type { Disk } from '../../../packages/storage/src/durable/disk.ts'
import { noEtcd } from '../../../packages/storage/src/testdata/etcd-process.ts'
import { checkHistory } from './check-history.ts'
import { fuzzStore } from './fuzz-store.ts'
import type { History, Operation, Seen, WatchCall } from './history.ts'
import { simulateStore } from './simulate-store.ts'
import { SimulatedDisk } from './simulated-disk.ts'
import { loseSyncs, reorderRecords, skipOnResume } from './spoil.ts'

/** The long version is `npm run fuzz -- store`. */
const seed = process.env['KUBEWRIGHT_SEED'] ?? 'store'

describe('concurrent clients of a failing store', () => {
  test.for([
    ['memory', 6000],
    ['durable', 9000],
    ['etcd', 1500],
  ] as const)('see one history: %s', { timeout: 120_000 }, async ([backend, operations], { skip }) => {
    if (backend === 'etcd' && noEtcd !== undefined) skip(noEtcd)
    const report = await fuzzStore({ seed, backend, operations, killEvery: 400 })
    expect(report.violations, `seed ${report.failed?.seed}`).toEqual([])
    expect(report.operations).toBeGreaterThanOrEqual(operations)
    expect(report.events).toBeGreaterThan(0)
    if (backend !== 'memory') expect(report.crashes).toBeGreaterThan(0)
  })

  test('make the same history from the same seed', async () => {
    const one = await simulateStore({ seed, backend: 'durable', operations: 500 })
    const other = await simulateStore({ seed, backend: 'durable', operations: 500 })
    expect(other).toEqual(one)
    const third = await simulateStore({ seed: `${seed}!`, backend: 'durable', operations: 500 })
    expect(third).not.toEqual(one)
  })
})

describe('checkHistory() finds', () => {
  test.for<
    [
      string,
      { spoilDisk?: (disk: Disk, random: Random) => Disk; spoilStore?: (store: Store, random: Random) => Store },
      RegExp,
    ]
  >([
    ['a write that returns before it is on the medium', { spoilDisk: loseSyncs }, /./],
    ['records of a log in the wrong order', { spoilDisk: reorderRecords }, /no revision twice/],
    ['a watch that skips a change when it resumes', { spoilStore: skipOnResume }, /watch/],
  ])('%s', async ([, spoiled, rule]) => {
    const { violations, failed } = await fuzzStore({ seed, backend: 'durable', operations: 60_000, ...spoiled })
    expect(failed).toBeDefined()
    expect(violations.map((violation) => violation.rule).join()).toMatch(rule)
  })

  const entry = (value: string, mod: number): Seen => ({ key: '/a', value, mod, create: 2 })
  const write = (call: number, value: string, expected: number, revision: number): Operation => {
    const previous = expected === 0 ? undefined : entry('c0.0.0', expected)
    return {
      kind: 'write',
      client: 'c0',
      call,
      end: call + 1,
      key: '/a',
      value,
      expected,
      outcome: { made: true, revision, previous },
    }
  }
  const watch: WatchCall = {
    ...{ kind: 'watch', client: 'w0', call: 1, end: 99, prefix: '/', after: 1, until: 3, failure: undefined },
    events: [
      { type: 'put', key: '/a', revision: 2, value: 'c0.0.0', previous: undefined },
      { type: 'put', key: '/a', revision: 3, value: 'c0.1.0', previous: entry('c0.0.0', 2) },
    ],
  }
  const two = [write(1, 'c0.0.0', 0, 2), write(3, 'c0.1.0', 2, 3)]
  const read = (call: number, seen: Seen | undefined, revision: number): Operation => ({
    ...{ kind: 'read', client: 'c1', call, end: call + 1, key: '/a', at: undefined },
    outcome: { entry: seen, revision },
  })
  const rulesOf = (part: Partial<History>): string[] => {
    const history: History = {
      start: 1,
      operations: two,
      watches: [],
      restarts: [],
      dense: true,
      trims: false,
      ...part,
    }
    return [...new Set(checkHistory(history).map(({ rule }) => rule))]
  }

  test('nothing in a history that is in order', () => {
    expect(rulesOf({ watches: [watch], operations: [...two, read(5, entry('c0.1.0', 3), 3)] })).toEqual([])
  })

  test.for<[string, string, Partial<History>]>([
    ['a stale read', 'linearizable', { operations: [...two, read(5, entry('c0.0.0', 2), 3)] }],
    ['a read that goes back in time', 'real-time order', { operations: [...two, read(5, entry('c0.0.0', 2), 2)] }],
    ['two writes that expect the same revision', 'linearizable', { operations: [...two, write(5, 'c0.2.0', 2, 4)] }],
    ['a revision of two writes', 'no revision twice', { operations: [...two, write(5, 'c0.2.0', 3, 3)] }],
    ['a missing revision', 'no revision twice', { operations: [two[0]!, write(3, 'c0.1.0', 2, 4)] }],
    ['a value that nobody wrote', 'known values', { operations: [...two, read(5, entry('c9.9.9', 3), 3)] }],
    ['a repeated event', 'watch', { watches: [{ ...watch, events: [...watch.events, ...watch.events] }] }],
    ['a missing event', 'watch', { watches: [{ ...watch, events: watch.events.slice(1) }] }],
    [
      'a compaction that nobody asked for',
      'compaction',
      { watches: [{ ...watch, failure: { error: 'compacted', floor: 9 } }] },
    ],
  ])('%s', ([, rule, part]) => {
    expect(rulesOf(part)).toContain(rule)
  })

  test('a page that mixes two revisions', () => {
    const other: Operation = { ...(write(5, 'c0.2.0', 0, 4) as Extract<Operation, { kind: 'write' }>), key: '/b' }
    const page: Operation = {
      ...{ kind: 'page', client: 'c1', call: 7, end: 8, prefix: '/', after: '', limit: 9, at: undefined },
      outcome: {
        entries: [entry('c0.0.0', 2), { key: '/b', value: 'c0.2.0', mod: 4, create: 4 }],
        revision: 4,
        remaining: 0,
      },
    }
    expect(rulesOf({ operations: [...two, other, page] })).toContain('one revision')
  })
})

describe('DurableStore after a power failure, with every beginning and every end of what was not synced', () => {
  test.for([
    ['at any step', [undefined]],
    [
      'at any step of the recovery of a process that was killed at any step',
      Array.from({ length: 12 }, (_, i) => 2 * i),
    ],
  ] as const)(
    'has the acknowledged writes, and perhaps the next ones: %s',
    { timeout: 120_000 },
    async ([, recoverySteps]) => {
      const clock = new VirtualClock()
      const disk = new SimulatedDisk(clock, seededRandom('every crash'))
      let acknowledged = 0
      let isOver = false
      void (async () => {
        const store = await openDurableStore('simulated', { disk: disk.start(), snapshotBytes: 300 })
        for (let i = 0; i < 6; i++) {
          await Promise.all(['x', 'y'].map((key) => store.put(`/${i}${key}`, Buffer.alloc(400, 'v'), 0)))
          acknowledged = 2 * (i + 1)
        }
        await store[Symbol.asyncDispose]()
        isOver = true
      })()
      let tried = 0
      while (!isOver) {
        for (const recovery of recoverySteps) {
          for (let kept = 0, most = 1; kept <= most; kept++) {
            for (const isEnd of [false, true]) {
              const own = new VirtualClock()
              const crashed = disk.copy(own)
              if (recovery !== undefined) {
                crashed.kill()
                openDurableStore('simulated', { disk: crashed.start() }).catch(() => undefined)
                for (let step = 0; step < recovery; step++) await own.advanceToNext()
              }
              most = crashed.unsynced
              crashed.losePower((changes) => Array.from({ length: changes }, (_, i) => (isEnd ? i >= kept : i < kept)))
              const { entries, revision } = await opened(crashed.start(), own)
              expect(revision).toBe(entries.length + 1)
              expect(entries.length).toBeGreaterThanOrEqual(acknowledged)
              expect(entries.length).toBeLessThanOrEqual(acknowledged + 2)
              tried++
            }
          }
        }
        await clock.advanceToNext()
      }
      expect(tried).toBeGreaterThan(250)
    },
  )

  async function opened(disk: Disk, clock: VirtualClock): Promise<{ entries: readonly unknown[]; revision: number }> {
    const opening = openDurableStore('simulated', { disk })
    let isOpen = false
    const end = (): void => {
      isOpen = true
    }
    opening.then(end, end)
    while (!isOpen) await clock.advanceToNext()
    return (await opening).list({ prefix: '/' })
  }
})
