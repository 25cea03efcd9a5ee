import { expect, test } from 'vitest'
import { ReceivedBody } from './received-body.ts'

test('ReceivedBody returns the bytes of all pieces, and is empty afterwards', () => {
  const body = new ReceivedBody()
  for (const piece of ['ab', 'c', '', 'd'.repeat(20_000), 'e']) body.append(Buffer.from(piece))
  expect(body.length).toBe(20_004)
  expect(Buffer.from(body.take()).toString()).toBe(`abc${'d'.repeat(20_000)}e`)
  expect(body.take()).toHaveLength(0)
})

test('ReceivedBody does not copy a large body of one piece', () => {
  const body = new ReceivedBody()
  const piece = Buffer.alloc(100_000)
  body.append(piece)
  expect(body.take().buffer).toBe(piece.buffer)
})

test('ReceivedBody takes at most twice the bytes of a body of one-byte pieces', () => {
  const body = new ReceivedBody()
  const source = Buffer.alloc(1024 * 1024)
  for (let i = 0; i < 100_000; i++) body.append(source.subarray(i, i + 1))
  const taken = body.take()
  expect(taken).toHaveLength(100_000)
  expect(taken.buffer.byteLength).toBeLessThan(200_001)
})
