import { expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { CelError } from '../values/cel-error.ts'
import { kubernetesLibraries } from './kubernetes-libraries.ts'

const env = CelEnvironment.create({ libraries: kubernetesLibraries })

const HOLDS = [
  "'no args'.format([]) == 'no args'",
  "'%% %s %d'.format(['str', 42]) == '% str 42'",
  "'%s %s %s'.format([1.5, true, null]) == '1.5 true null'",
  "'%s'.format([duration('1h45m47s')]) == '6347s'",
  "'%s'.format([timestamp('2023-02-03T23:31:20+00:00')]) == '2023-02-03T23:31:20Z'",
  "'%s'.format([type(1)]) == 'int'",
  "'%f'.format([3.14]) == '3.140000'",
  "'%.3f'.format([1.2345]) == '1.234'",
  "'%.0f %.0f'.format([0.5, 1.5]) == '0 2'",
  "'%.2f'.format([1234567.891]) == '1,234,567.89'",
  "'%f %f'.format(['NaN', '-Infinity']) == 'NaN -∞'",
  "'%e'.format([1052.032911275]) == '1.052033×10⁰³'",
  "'%e'.format([0.00012]) == '1.200000×10⁻⁰⁴'",
  "'%b %b %b'.format([5, true, -3]) == '101 1 -11'",
  "'%x %X %x %x'.format([26, 26, 'hi', b'\\xff']) == '1a 1A 6869 ff'",
  "'%o'.format([30]) == '36'",
  "'%s'.format([[1, 2, 3]]) == '[1, 2, 3]'",
  "'%s'.format([[dyn('a'), 2.5, {'b': 1, 'a': 2}, duration('1s'), b'x']]) == '[\"a\", 2.500000, {\"a\":2, \"b\":1}, duration(\"1s\"), b\"x\"]'",
]

const DYN = 'dyn'
const FAILS: [string, string][] = [
  [
    `'%d'.format([${DYN}('a')]) == ''`,
    'error during formatting: decimal clause can only be used on integers, was given string',
  ],
  [
    `'%f'.format([${DYN}(1)]) == ''`,
    'error during formatting: fixed-point clause can only be used on doubles, was given int',
  ],
  [
    `'%b'.format([${DYN}('a')]) == ''`,
    'error during formatting: only integers and bools can be formatted as binary, was given string',
  ],
  [`${DYN}('%s %s').format([1]) == ''`, 'index 1 out of range'],
  [`${DYN}('%q').format([1]) == ''`, 'could not parse formatting clause: unrecognized formatting clause "q"'],
  [`${DYN}('%').format([1]) == ''`, 'unexpected end of string'],
  [
    `${DYN}('%.3').format([1]) == ''`,
    'could not parse formatting clause: error while parsing precision: could not find end of precision specifier',
  ],
]

test.each(HOLDS)('%s holds', (source) => {
  expect(env.compile(source).evaluate({})).toBe(true)
})

test.each(FAILS)('%s fails', (source, message) => {
  expect(() => env.compile(source).evaluate({})).toThrow(new CelError(message))
})
