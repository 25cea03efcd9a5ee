import { describe, expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { bindingsLibrary } from './bindings.ts'

const environment = CelEnvironment.create({ libraries: [bindingsLibrary] })

describe('cel.bind', () => {
  test.each([
    ['cel.bind(x, 2, x * x == 4)', true],
    ['cel.bind(x, [1, 2], cel.bind(y, size(x), x.all(e, e <= y)))', true],
  ])('%s is %s', (text, value) => {
    expect(environment.compile(text).evaluate({})).toBe(value)
  })

  test('requires a simple identifier', () => {
    expect(() => environment.compile('cel.bind(a.b, 1, true)')).toThrow(
      'cel.bind() variable names must be simple identifiers',
    )
  })

  test('is unknown without the library', () => {
    expect(() => CelEnvironment.create({ libraries: [] }).compile('cel.bind(x, 1, true)')).toThrow(
      'undeclared reference',
    )
  })
})
