import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Fifo } from './fifo.ts'

test('Fifo behaves like an array with push and shift', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('push' as const), item: fc.nat(20) }),
    fc.record({ kind: fc.constant('shift' as const) }),
    fc.record({ kind: fc.constant('remove' as const), item: fc.nat(20) }),
    fc.record({ kind: fc.constant('drain' as const) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const fifo = new Fifo<number>()
      let list: number[] = []
      for (const one of steps) {
        if (one.kind === 'push') {
          fifo.push(one.item)
          list.push(one.item)
        } else if (one.kind === 'shift') {
          expect(fifo.peek()).toBe(list[0])
          expect(fifo.shift()).toBe(list.shift())
        } else if (one.kind === 'remove') {
          fifo.remove(one.item)
          const at = list.indexOf(one.item)
          if (at >= 0) list.splice(at, 1)
        } else {
          expect(fifo.drain()).toEqual(list)
          list = []
        }
        expect([...fifo]).toEqual(list)
        expect(fifo.size).toBe(list.length)
      }
    }),
  )
})

test('Fifo drops the slots of taken items, also in long queues', () => {
  const fifo = new Fifo<number>()
  for (let item = 0; item < 5000; item++) fifo.push(item)
  for (let item = 0; item < 4000; item++) expect(fifo.shift()).toBe(item)
  fifo.push(5000)
  expect(fifo.drain()).toEqual(Array.from({ length: 1001 }, (_, index) => 4000 + index))
})

test('Fifo keeps no item that was taken, also while it reuses its slots', () => {
  const fifo = new Fifo<number>()
  for (let item = 0; item < 200; item++) {
    fifo.push(item)
    fifo.push(-item)
    expect([fifo.peek(), fifo.shift(), fifo.shift()]).toEqual([item, item, -item])
    expect([fifo.peek(), fifo.shift(), fifo.size]).toEqual([undefined, undefined, 0])
    fifo.remove(item)
    expect([...fifo]).toEqual([])
  }
})
