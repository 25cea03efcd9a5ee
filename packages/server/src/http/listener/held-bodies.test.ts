import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { HeldBodies } from './held-bodies.ts'
import { OpenConnections } from './open-connections.ts'

const mib = 1024 * 1024

test('HeldBodies.hold() resets the responses that have waited longest when there is no room', () => {
  const held = new HeldBodies(10 * mib)
  const reset: number[] = []
  const bodies = [0, 1, 2, 3].map((i) => ({ reset: () => void reset.push(i) }))
  for (const body of bodies.slice(0, 3)) held.hold(body, 3 * mib)
  expect([held.bytes, reset]).toEqual([9 * mib, []])
  held.hold(bodies[3]!, 5 * mib)
  expect([held.bytes, reset]).toEqual([8 * mib, [0, 1]])
  held.hold({ reset: () => void reset.push(4) }, 1000)
  expect(held.bytes).toBe(8 * mib)
  held.release(bodies[2]!)
  held.release(bodies[2]!)
  expect(held.bytes).toBe(5 * mib)
  // A body beyond the limit stays: it is the only one.
  held.hold({ reset: () => void reset.push(5) }, 20 * mib)
  expect([held.bytes, reset]).toEqual([20 * mib, [0, 1, 3]])
})

test('OpenConnections drops the oldest response when unread bodies exceed the limit', async () => {
  const open = new OpenConnections(8 * mib, { total: 1000, connection: 1000 })
  const outputs = Array.from({ length: 6 }, () => new PassThrough({ highWaterMark: 1 }))
  for (const output of outputs) void open.begin(undefined, output).end(Buffer.alloc(2 * mib))
  expect(outputs.map(({ destroyed }) => destroyed)).toEqual([true, true, false, false, false, false])
  expect(open.heldBytes).toBe(8 * mib)
  const last = outputs.at(-1)!
  let read = 0
  for await (const chunk of last) read += (chunk as Buffer).length
  expect(read).toBe(2 * mib)
  expect(open.heldBytes).toBe(6 * mib)
  for (const output of outputs) output.destroy()
  await new Promise((resolve) => setImmediate(resolve))
  expect(open.heldBytes).toBe(0)
})
