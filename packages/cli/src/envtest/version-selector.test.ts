import { UsageError } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { compareVersions, versionSelector } from './version-selector.ts'

const versions = ['1.37.0-rc.1', '1.36.4', '1.36.0', '1.35.8', '1.34.11']

describe('versionSelector()', () => {
  test.each([
    [undefined, versions],
    ['latest', versions],
    ['1.36', ['1.36.4', '1.36.0']],
    ['1.36.x', ['1.36.4', '1.36.0']],
    ['1.36.*', ['1.36.4', '1.36.0']],
    ['1.36.x!', ['1.36.4', '1.36.0']],
    ['v1.36.4', ['1.36.4']],
    ['1.36.1', []],
    ['1.3', []],
    ['~1.36.2', ['1.36.4']],
    ['<1.36', ['1.35.8', '1.34.11']],
    ['<1.36.4', ['1.36.0', '1.35.8', '1.34.11']],
    ['1.37.0-rc.1', ['1.37.0-rc.1']],
  ])('%s selects %j', (text, selected) => {
    expect(versions.filter(versionSelector(text))).toEqual(selected)
  })

  test.each(['', '1', 'newest', '>1.36', '1.36.4.5'])('refuses %j', (text) => {
    expect(() => versionSelector(text)).toThrow(UsageError)
  })
})

describe('compareVersions()', () => {
  test('orders by numbers, and candidates before their release', () => {
    const sorted = ['1.37.0', '1.37.0-rc.1', '1.36.10', '1.36.9', '1.9.30']
    expect([...sorted].reverse().sort((a, b) => compareVersions(b, a))).toEqual(sorted)
    expect(compareVersions('1.36.4', '1.36.4')).toBe(0)
  })
})
