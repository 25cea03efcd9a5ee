import { VirtualClock } from '@kubewright/base'
import { expect, test } from 'vitest'
import { type Flushable, Flusher } from './flusher.ts'

const ticks = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function outputsOf(count: number, flush: () => void): Flushable[] {
  return Array.from({ length: count }, () => ({ isSoon: false, isEvent: false, flush }))
}

test('Flusher flushes an output once per turn', async () => {
  const flusher = new Flusher(new VirtualClock({ start: 0 }))
  let flushes = 0
  const [output] = outputsOf(1, () => flushes++) as [Flushable]
  for (let i = 0; i < 3; i++) flusher.flushSoon(output)
  flusher.flushEvents(output)
  expect(flushes).toBe(0)
  await ticks()
  expect(flushes).toBe(1)
  flusher.flushEvents(output)
  await ticks()
  expect(flushes).toBe(2)
})

test('Flusher delays events, but not responses, after a round that took long', async () => {
  const clock = new VirtualClock({ start: 0 })
  let now = 0
  const slowClock = Object.assign(Object.create(clock) as VirtualClock, {
    monotonic: () => now,
    setTimer: clock.setTimer.bind(clock),
  })
  const flusher = new Flusher(slowClock)
  const log: string[] = []
  const [event, response] = [...outputsOf(1, () => log.push('event')), ...outputsOf(1, () => log.push('response'))] as [
    Flushable,
    Flushable,
  ]
  const slow = outputsOf(100, () => (now += 0.05))
  for (const output of slow) flusher.flushEvents(output)
  await ticks()
  expect(now).toBeCloseTo(5)
  flusher.flushEvents(event)
  flusher.flushSoon(response)
  await ticks()
  expect(log).toEqual(['response'])
  await clock.advance(44)
  expect(log).toEqual(['response'])
  await clock.advance(2)
  expect(log).toEqual(['response', 'event'])
  // The last round was short: no delay.
  flusher.flushEvents(event)
  await ticks()
  expect(log).toEqual(['response', 'event', 'event'])
})
