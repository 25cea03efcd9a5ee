import { expect, test } from 'vitest'
import { required } from './field-error.ts'
import { FieldPath } from './field-path.ts'
import { limitValidation, ValidationLimitError } from './validation-steps.ts'

const items = FieldPath.of('items')

/** Visits items, and reports an error for each if `fails`. Returns how many it has visited. */
function visit(count: number, fails: boolean, visited: number[]): void {
  for (let i = 0; i < count; i++) {
    const path = items.index(i).child('map').key('a')
    if (fails) required(path)
    visited.push(i)
  }
}

test('limitValidation() stops a validation after its steps', () => {
  const visited: number[] = []
  expect(() => limitValidation(1000, () => visit(1_000_000, false, visited))).toThrow(ValidationLimitError)
  expect(visited).toHaveLength(500)
})

test('limitValidation() counts an error as many steps', () => {
  const visited: number[] = []
  expect(() => limitValidation(1000, () => visit(1_000_000, true, visited))).toThrow(ValidationLimitError)
  expect(visited).toHaveLength(19)
})

test('limitValidation() returns the result and ends with the validation', () => {
  expect(limitValidation(2, () => items.index(7).toString())).toBe('items[7]')
  expect(() => limitValidation(0, () => items.index(1))).toThrow(ValidationLimitError)
  const visited: number[] = []
  visit(10_000, true, visited)
  expect(visited).toHaveLength(10_000)
})
