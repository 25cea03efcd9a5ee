import { describe, expect, test } from 'vitest'
import { CelError } from '../values/cel-error.ts'
import { parseOpenAPIDuration } from './openapi-duration.ts'

describe('parseOpenAPIDuration()', () => {
  test('adds numbers with unit words', () => {
    expect(parseOpenAPIDuration('3 days and 2 hours')).toBe(266_400_000_000_000n)
  })

  // With quadratic time, a million digits would take half an hour.
  test('searches a long text in linear time', () => {
    expect(() => parseOpenAPIDuration('1'.repeat(1_000_000))).toThrow(CelError)
  })
})
