import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as api from './index.ts'

describe('resource versions', () => {
  test('compareResourceVersions() compares numbers of any length', () => {
    const version = fc.bigInt({ min: 1n, max: 2n ** 200n })
    fc.assert(
      fc.property(version, version, (a, b) => {
        expect(Math.sign(api.compareResourceVersions(`${a}`, `${b}`))).toBe(a < b ? -1 : a > b ? 1 : 0)
      }),
    )
  })

  test.each(['', '0', '01', '-1', 'a', '1.0'])('compareResourceVersions() rejects %j', (version) => {
    expect(() => api.compareResourceVersions(version, '1')).toThrow(`resource version is not well formed: ${version}`)
    expect(api.isComparableResourceVersion(version)).toBe(false)
  })

  test('parseResourceVersion() fails as strconv.ParseUint does', () => {
    expect(['', '0', '007', '12'].map(api.parseResourceVersion)).toEqual(['0', '0', '7', '12'])
    expect(() => api.parseResourceVersion('-1')).toThrow('strconv.ParseUint: parsing "-1": invalid syntax')
    expect(() => api.parseResourceVersion('18446744073709551616')).toThrow(
      'strconv.ParseUint: parsing "18446744073709551616": value out of range',
    )
  })
})
