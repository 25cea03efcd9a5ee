import { EventEmitter } from 'node:events'
import { expect, test } from 'vitest'
import { BodyBudget } from './body-budget.ts'
import { type BodyStream, IncomingBody } from './incoming-body.ts'

class Pieces extends EventEmitter implements BodyStream {
  isPaused = false
  isDestroyed = false
  pause = (): void => void (this.isPaused = true)
  resume = (): void => void (this.isPaused = false)
  destroy = (): void => {
    this.isDestroyed = true
    this.emit('close')
  }
}

const text = (body: Uint8Array | string): string =>
  typeof body === 'string' ? `! ${body}` : Buffer.from(body).toString()

function receive(limits = { total: 1000_000, connection: 1000_000 }) {
  const budget = new BodyBudget(limits)
  const stream = new Pieces()
  const body = new IncomingBody(stream, budget.accountOf(stream))
  const send = (...pieces: string[]): void => {
    for (const piece of pieces) stream.emit('data', Buffer.from(piece))
  }
  return { budget, stream, body, send }
}

test('IncomingBody joins pieces that arrive before and after it is read', async () => {
  const { stream, body, send } = receive()
  send('a'.repeat(5000), 'b')
  const read = body.read(10_000)
  send('c')
  stream.emit('end')
  expect(text(await read)).toBe(`${'a'.repeat(5000)}bc`)
})

test('IncomingBody pauses the stream while nobody reads, and reads the rest of a dropped body', () => {
  const { stream, body, budget, send } = receive()
  for (let i = 0; i < 300; i++) send('x'.repeat(1024))
  expect(stream.isPaused).toBe(true)
  expect(budget.bytes).toBeGreaterThan(256 * 1024)
  body.done()
  expect(stream.isPaused).toBe(false)
  expect(budget.bytes).toBe(0)
  send('more')
  expect(budget.bytes).toBe(0)
})

test('IncomingBody refuses a body that is longer than the limit, in both orders', async () => {
  const early = receive()
  early.send('123456')
  expect(await early.body.read(5)).toBe('too large')
  const late = receive()
  const read = late.body.read(5)
  late.send('123', '456')
  expect(await read).toBe('too large')
  expect(late.budget.bytes).toBe(0)
})

test('IncomingBody refuses a body that ends early', async () => {
  const { stream, body, send } = receive()
  send('{')
  stream.emit('close')
  expect(await body.read(5)).toBe('incomplete')
})

test('IncomingBody disconnects a client that sends one byte at a time', async () => {
  const { stream, body, budget, send } = receive()
  const read = body.read(100_000)
  for (let i = 0; i < 5000 && !stream.isDestroyed; i++) send('x')
  expect(stream.isDestroyed).toBe(true)
  expect(await read).toBe('too many pieces')
  expect(budget.bytes).toBe(0)
})

test('IncomingBody accepts many pieces of a useful size', async () => {
  const { stream, body, send } = receive()
  const read = body.read(1000_000)
  for (let i = 0; i < 10_000; i++) send('0123456789abcdef')
  stream.emit('end')
  expect(text(await read)).toHaveLength(160_000)
})

test('IncomingBody refuses a body for which its connection or the server has no room', async () => {
  const budget = new BodyBudget({ total: 250, connection: 200 })
  const [one, two] = [new Pieces(), new Pieces()]
  const connection = {}
  const first = new IncomingBody(one, budget.accountOf(connection))
  one.emit('data', Buffer.alloc(150))
  const second = new IncomingBody(two, budget.accountOf(connection))
  two.emit('data', Buffer.alloc(100))
  expect(await second.read(1000)).toBe('over budget')
  const other = new Pieces()
  const third = new IncomingBody(other, budget.accountOf({}))
  other.emit('data', Buffer.alloc(150))
  expect(await third.read(1000)).toBe('over budget')
  first.done()
  expect(budget.bytes).toBe(0)
})
