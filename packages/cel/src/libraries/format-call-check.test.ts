import { expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { stringsLibrary } from './strings.ts'

const env = CelEnvironment.create({ libraries: [stringsLibrary] })

test.each([
  [
    "'%d'.format(['a'])",
    '1:14: error during formatting: decimal clause can only be used on integers, was given string',
  ],
  [
    "'%s'.format([[1, optional.none()]])",
    '1:31: error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given optional_type',
  ],
  ["'%s %s'.format([1])", '1:15: index 1 out of range'],
  ["'%s'.format([1, 2])", '1:12: too many arguments supplied to string.format (expected 1, got 2)'],
  ["'%q'.format([1])", '1:12: could not parse formatting clause: unrecognized formatting clause "q"'],
])('checkFormatCall() rejects %s', (source, message) => {
  expect(() => env.compile(source)).toThrow(`ERROR: <input>:${message}`)
})

test('checkFormatCall() ignores formats and arguments that are not literals', () => {
  expect(env.compile("dyn('%d').format([dyn('a')]) == ''").outputType.name).toBe('bool')
  expect(env.compile("'%d %s'.format([dyn(1), {'a': [1.5]}])").evaluate({})).toBe('1 {"a":[1.500000]}')
})
