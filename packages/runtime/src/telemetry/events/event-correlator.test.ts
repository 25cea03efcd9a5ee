import type { KubeObject } from '@kubewright/api'
import { VirtualClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { EventCorrelator } from './event-correlator.ts'
import type { EventNote } from './event-recorder.ts'

const object = (name: string): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name,
    namespace: 'default',
    uid: `uid-${name}`,
    resourceVersion: '7',
    generation: 1,
    creationTimestamp: '',
  },
})
const note = (message = 'm', reason = 'Reason'): EventNote => ({ type: 'Normal', reason, message })

function start(): { readonly clock: VirtualClock; readonly correlator: EventCorrelator } {
  const clock = new VirtualClock()
  return { clock, correlator: new EventCorrelator(clock, { controller: 'test', instance: 'test-0' }) }
}

describe('EventCorrelator', () => {
  test('observe() makes one series of equal Events, written at the first repetition and whenever its count has doubled', () => {
    const { correlator } = start()
    const written: number[] = []
    for (let occurrence = 1; occurrence <= 20; occurrence++) {
      const observed = correlator.observe(object('a'), note())
      if (!observed?.write) continue
      written.push(observed.series.count)
      observed.series.writtenCount = observed.series.count
    }
    expect(written).toEqual([1, 2, 4, 8, 16])
  })

  test('observe() keeps separate series per object, reason, type and message', () => {
    const { correlator } = start()
    const notes = [note(), note('other'), note('m', 'Other'), { ...note(), type: 'Warning' as const }]
    const names = notes.map((one) => correlator.observe(object('a'), one)?.series.draft.metadata.name)
    names.push(correlator.observe(object('b'), note())?.series.draft.metadata.name)
    expect(new Set(names).size).toBe(5)
  })

  test('observe() combines Events that differ in their message only, from the tenth on', () => {
    const { correlator } = start()
    const seen = Array.from({ length: 12 }, (_, index) => correlator.observe(object('a'), note(`try ${index}`))?.series)
    expect(seen.slice(8).map((series) => [series?.draft.note, series?.count])).toEqual([
      ['try 8', 1],
      ['(combined from similar events): try 9', 3],
      ['(combined from similar events): try 9', 3],
      ['(combined from similar events): try 9', 3],
    ])
    // Events with a series of their own keep it.
    expect(correlator.observe(object('a'), note('try 3'))?.series.count).toBe(2)
  })

  test('observe() allows an object 25 Events at once and one more every five minutes', async () => {
    const { clock, correlator } = start()
    const flood = (count: number, round: number): number =>
      Array.from({ length: count }, (_, i) => correlator.observe(object('a'), note('m', `R${round}-${i}`))).filter(
        Boolean,
      ).length
    expect(flood(40, 0)).toBe(25)
    await clock.advance('299s')
    expect(flood(5, 1)).toBe(0)
    await clock.advance('1s')
    expect(flood(5, 2)).toBe(1)
    // Other objects have their own limit, and repetitions do not count against it.
    expect(correlator.observe(object('b'), note())).toBeDefined()
    expect(correlator.observe(object('a'), note('m', 'R2-0'))?.series.count).toBe(2)
  })

  test('finish() ends series that have not occurred for six minutes, and returns those with an outdated count', async () => {
    const { clock, correlator } = start()
    const first = correlator.observe(object('a'), note())?.series
    first!.writtenCount = 1
    await clock.advance('5m')
    const second = correlator.observe(object('b'), note())?.series
    correlator.observe(object('b'), note())
    second!.writtenCount = 1
    correlator.observe(object('a'), note())
    await clock.advance('5m')
    expect([correlator.finish(), correlator.untilFinish()]).toEqual([[], 60_000])
    await clock.advance('1m')
    expect(correlator.finish()).toEqual([second, first])
    expect([correlator.untilFinish(), correlator.observe(object('a'), note())?.series.count]).toEqual([undefined, 1])
  })

  test('untilFinish() never rounds to zero: the sum of fractional times is not exact', async () => {
    const { clock, correlator } = start()
    await clock.advance(1000.107)
    correlator.observe(object('a'), note())
    for (let i = 0; i < 359_999; i += 997) await clock.advance(Math.min(997, 359_999 - i))
    await clock.advance(0.999)
    expect(correlator.untilFinish()).toBe(1)
    await clock.advance(1)
    expect([correlator.finish(), correlator.untilFinish()]).toEqual([[], undefined])
  })

  test('observe() keeps a bounded number of series', () => {
    const { correlator } = start()
    const names = new Set<string>()
    for (let i = 0; i < 10_000; i++) {
      const observed = correlator.observe(object(`pod-${i}`), note())
      if (observed) names.add(observed.series.draft.metadata.name)
      correlator.observe(object(`pod-${i}`), note())
      if (observed) observed.series.writtenCount = 1
    }
    expect([names.size, correlator.unwritten().length]).toEqual([10_000, 4096])
  })
})
