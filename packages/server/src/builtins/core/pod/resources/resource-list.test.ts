import { expect, test } from 'vitest'
import { canonicalQuantity, defaultResourceList, quantityOf } from './resource-list.ts'

test.each([
  ['1000m', '1'],
  ['0.5', '500m'],
  ['1.0005', '1001m'],
  ['0.0001', '1m'],
  ['-0.0001', '-1m'],
  ['-9223372036854775808', '-9223372036854775808'],
  ['-18446744073709552000', '-18446744073709552k'],
  ['100000000000000000000.0001', '100000000000000000000001m'],
  ['1024Mi', '1Gi'],
  ['1e3', '1e3'],
  [2, '2'],
])('canonicalQuantity() of %j returns %j', (given, printed) => {
  expect(canonicalQuantity(given)).toBe(printed)
})

test('canonicalQuantity() returns an invalid quantity unchanged', () => {
  expect(canonicalQuantity('many')).toBe('many')
})

test('defaultResourceList() replaces every amount by its canonical form', () => {
  const list = { cpu: '0.25', memory: '2048Ki' }
  defaultResourceList(list)
  expect(list).toEqual({ cpu: '250m', memory: '2Mi' })
})

test('quantityOf() counts a missing amount as zero', () => {
  expect(quantityOf(undefined).isZero()).toBe(true)
})
