import { expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { CelError } from '../values/cel-error.ts'
import { kubernetesLibraries } from './kubernetes-libraries.ts'

const env = CelEnvironment.create({ libraries: kubernetesLibraries })

const HOLDS = [
  '[1, 2, 2].isSorted() && ![2, 1].isSorted() && [].isSorted()',
  "['a', 'b'].isSorted() && [b'a', b'b'].isSorted() && [1u, 2u].isSorted() && [false, true].isSorted()",
  "[duration('1s'), duration('2s')].isSorted()",
  '[1, 2, 3].sum() == 6 && [1.5, 2.5].sum() == 4.0 && [1u, 2u].sum() == 3u',
  "[duration('1s'), duration('2s')].sum() == duration('3s')",
  '[3, 1, 2].min() == 1 && [3, 1, 2].max() == 3',
  "['b', 'a'].min() == 'a' && [true, false].max()",
  '[1, 2, 2, 3].indexOf(2) == 1 && [1, 2, 2, 3].lastIndexOf(2) == 2 && [1].indexOf(5) == -1',
  "[{'a': 1}].indexOf({'a': 1}) == 0",
]

const FAILS: [string, string][] = [
  ['[1].filter(x, x > 1).min() == 1', 'min called on empty list'],
  ['[1].filter(x, x > 1).max() == 1', 'max called on empty list'],
  ['[9223372036854775807, 1].sum() == 1', 'integer overflow'],
]

test.each(HOLDS)('%s holds', (source) => {
  expect(env.compile(source).evaluate({})).toBe(true)
})

test.each(FAILS)('%s fails', (source, message) => {
  expect(() => env.compile(source).evaluate({})).toThrow(new CelError(message))
})
