import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TimerQueue } from './timer-queue.ts'

interface Timer {
  readonly due: number
  readonly sequence: number
  index: number
}

const timer = (due: number, sequence: number): Timer => ({ due, sequence, index: -1 })

test('TimerQueue returns the remaining timers by due time and then by sequence, whichever were removed', () => {
  fc.assert(
    // Each timer has a due time, and names a timer that is removed after it was added.
    fc.property(fc.array(fc.tuple(fc.nat(20), fc.option(fc.nat(60))), { maxLength: 60 }), (steps) => {
      const queue = new TimerQueue<Timer>()
      const timers: Timer[] = []
      const kept = new Set<Timer>()
      for (const [sequence, [due, removed]] of steps.entries()) {
        const added = timer(due, sequence)
        timers.push(added)
        kept.add(added)
        queue.push(added)
        const other = removed === null ? undefined : timers[removed]
        if (other === undefined) continue
        queue.remove(other)
        kept.delete(other)
      }
      const expected = [...kept].sort((a, b) => a.due - b.due || a.sequence - b.sequence)
      expect([queue.size, queue.sorted(), queue.peek()]).toEqual([expected.length, expected, expected[0]])
      const popped: (Timer | undefined)[] = []
      while (queue.size > 0) popped.push(queue.pop())
      expect(popped.map((one) => one?.sequence)).toEqual(expected.map(({ sequence }) => sequence))
      expect(queue.pop()).toBeUndefined()
    }),
  )
})

test('TimerQueue.remove() ignores a timer that is not in the queue', () => {
  const queue = new TimerQueue<Timer>()
  const [first, second] = [timer(1, 0), timer(2, 1)]
  queue.push(first)
  queue.push(second)
  queue.remove(first)
  queue.remove(first)
  queue.remove(timer(3, 2))
  expect(queue.sorted()).toEqual([second])
})
