import { expect, test } from 'vitest'
import { validateExactly } from './exact-validate.ts'
import { maxProblems, type Problem, ValidationResult } from './problem.ts'

const problem = (message: string): Problem => ({ kind: 'invalid', name: 'a', message })

test('ValidationResult.add() ignores a repeated text among few and among many problems', () => {
  const result = new ValidationResult()
  for (const message of ['a', 'b', 'a']) result.add(problem(message))
  expect(result.problems.map(({ message }) => message)).toEqual(['a', 'b'])
  for (let round = 0; round < 2; round++) for (let i = 0; i < 100; i++) result.add(problem(`${i}`))
  expect(result.problems).toHaveLength(102)
})

test('ValidationResult.add() reads each text a constant number of times', () => {
  let reads = 0
  const result = new ValidationResult()
  const count = 5000
  for (let i = 0; i < count; i++) {
    result.add({
      ...problem(''),
      get message() {
        reads++
        return `item ${i}`
      },
    })
  }
  expect(result.problems).toHaveLength(count)
  expect(reads).toBeLessThan(4 * count)
})

test('ValidationResult.add() keeps at most maxProblems problems', () => {
  const result = new ValidationResult()
  for (let i = 0; i < maxProblems + 5; i++) result.add(problem(`item ${i}`))
  expect(result.problems).toHaveLength(maxProblems)
  expect(result.valid).toBe(false)
})

test('validateExactly() stops when no further problem would be reported', () => {
  let reads = 0
  const list = new Proxy(
    Array.from({ length: 3 * maxProblems }, () => 'a'),
    {
      get: (target, key) => {
        if (key !== 'length') reads++
        return Reflect.get(target, key)
      },
    },
  )
  const result = validateExactly({ type: 'array', items: { type: 'integer' } }, list, 'a', 'resource')
  expect(result.problems).toHaveLength(maxProblems)
  expect(reads).toBeLessThan(2 * maxProblems)
})
