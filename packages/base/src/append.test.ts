import { expect, test } from 'vitest'
import { append } from './append.ts'

test('append() adds more items than the call stack has room for', () => {
  const target = [0]
  append(
    target,
    Array.from({ length: 300_000 }, (_, i) => i + 1),
  )
  expect(target).toHaveLength(300_001)
  expect(target.at(-1)).toBe(300_000)
})
