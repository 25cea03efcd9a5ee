import { describe, expect, test } from 'vitest'
import { Lexer } from 'yaml'
import { parseYaml } from './decode-yaml.ts'
import { isTooDeep as isTooDeepFor } from './yaml-depth.ts'

const isTooDeep = (text: string): boolean => isTooDeepFor(text, () => new Lexer())

describe('isTooDeep()', () => {
  test.each([
    ['brackets', (n: number) => '['.repeat(n) + ']'.repeat(n)],
    ['braces', (n: number) => `${'{a: '.repeat(n)}1${'}'.repeat(n)}`],
    ['tagged brackets', (n: number) => '!a ['.repeat(n) + ']'.repeat(n)],
    ['lists on one line', (n: number) => `${'- '.repeat(n)}x`],
    ['keys on one line', (n: number) => `${'? '.repeat(n)}x`],
    ['indentation', (n: number) => `${Array.from({ length: n }, (_, i) => `${' '.repeat(i)}a:`).join('\n')} 1`],
  ])('detects %s nested too deeply', (_, make) => {
    expect([isTooDeep(make(900)), isTooDeep(make(1100)), isTooDeep(make(5000))]).toEqual([false, true, true])
  })

  test('ignores brackets inside strings', () => {
    expect(isTooDeep(`a: "${'['.repeat(5000)}"\nb: |\n  ${'\u001b[31m x'.repeat(5000)}\nc: ${'-'.repeat(3000)}`)).toBe(
      false,
    )
  })

  test('parseYaml() rejects bodies of several megabytes without aborting the process', () => {
    expect(() => parseYaml('['.repeat(1_500_000))).toThrow('yaml: exceeded max depth of 10000')
    expect(() => parseYaml('- '.repeat(1_500_000))).toThrow('yaml: exceeded max depth of 10000')
  })
})
