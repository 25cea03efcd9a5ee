import { expect, test } from 'vitest'
import { explainReadOnly } from './explain-read-only.ts'

const frozen = Object.freeze({ list: Object.freeze([2, 1]), name: 'a' }) as {
  list: number[]
  name?: string
  other?: string
}

test.each<[string, () => unknown]>([
  ['an assignment', () => void (frozen.name = 'b')],
  ['a new field', () => void (frozen.other = 'b')],
  ['a deletion', () => void delete frozen.name],
  ['a push', () => void frozen.list.push(3)],
  ['a sort', () => void frozen.list.sort()],
])('explainReadOnly() tells how to copy after %s, once', (_, change) => {
  let error: unknown
  try {
    change()
  } catch (thrown) {
    error = thrown
  }
  explainReadOnly(error)
  explainReadOnly(error)
  const { message, stack } = error as Error
  expect(message.match(/structuredClone/g)).toHaveLength(1)
  expect(stack).toContain(message)
})

test('explainReadOnly() leaves other errors alone', () => {
  const error = new TypeError('x is not a function')
  explainReadOnly(error)
  explainReadOnly('text')
  expect(error.message).toBe('x is not a function')
})
