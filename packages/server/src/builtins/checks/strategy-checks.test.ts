import { FieldPath, invalid } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { selectorValue, structValue } from './strategy-checks.ts'

const text = (value: unknown): string => invalid(FieldPath.of('x'), value, '').toString()

describe('structValue()', () => {
  test('keeps the order of fields and escapes HTML as Go does', () => {
    expect(text(structValue({ b: '<', a: [1] }))).toBe('x: Invalid value: {"b":"\\u003c","a":[1]}')
  })
})

describe('selectorValue()', () => {
  test('shows sorted labels before expressions', () => {
    const selector = { matchExpressions: [{ key: 'k', operator: 'Exists' }], matchLabels: { b: '1', a: '2' } }
    expect(text(selectorValue(selector))).toBe(
      'x: Invalid value: {"matchLabels":{"a":"2","b":"1"},"matchExpressions":[{"key":"k","operator":"Exists"}]}',
    )
  })

  test('shows a missing selector as null', () => {
    expect(text(selectorValue(undefined))).toBe('x: Invalid value: null')
  })
})
