import { expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { CelError } from '../values/cel-error.ts'
import { kubernetesLibraries } from './kubernetes-libraries.ts'

const env = CelEnvironment.create({ libraries: kubernetesLibraries })

const HOLDS = [
  '[1, 2, 3, 4].slice(1, 3) == [2, 3] && [1, 2].slice(2, 2) == []',
  '[[1], [2, 3]].flatten() == [1, 2, 3] && [[[1]], [[2]]].flatten() == [[1], [2]]',
  '[dyn(1), dyn([2, 3])].flatten(1) == [1, 2, 3] && [[[1]], [[2]]].flatten(2) == [1, 2]',
  'dyn([1, 2]).flatten() == [1, 2]',
  '[4, 3, 2, 1].sort() == [1, 2, 3, 4]',
  "['d', 'a', 'c'].sort() == ['a', 'c', 'd']",
  "['foo', 'ba', 'x'].sortBy(e, size(e)) == ['x', 'ba', 'foo']",
  "[{'n': 2}, {'n': 1}].sortBy(e, e.n).map(e, e.n) == [1, 2]",
  'lists.range(4) == [0, 1, 2, 3] && lists.range(0) == []',
  '[1, 2, 3].reverse() == [3, 2, 1]',
  "[1, 2, 2, 1].distinct() == [1, 2] && ['b', 'a', 'b'].distinct() == ['b', 'a']",
  '[dyn(1), dyn(1.0), dyn(2u)].distinct().size() == 2',
]

const FAILS: [string, string][] = [
  ['[1, 2].slice(1, 5) == []', 'cannot slice(1, 5), list is length 2'],
  ['[1, 2].slice(2, 1) == []', 'cannot slice(2, 1), start index must be less than or equal to end index'],
  ['[1, 2].slice(-1, 1) == []', 'cannot slice(-1, 1), negative indexes not supported'],
  ['[[1]].flatten(-1) == []', 'level must be non-negative'],
  ['[{}].map(x, dyn(x)).sort() == []', 'list elements must be comparable'],
  ['dyn(1).flatten() == []', 'no such overload: int.flatten()'],
  ["[dyn(1), dyn('a')].sort() == []", 'list elements must have the same type'],
]

test.each(HOLDS)('%s holds', (source) => {
  expect(env.compile(source).evaluate({})).toBe(true)
})

test.each(FAILS)('%s fails', (source, message) => {
  expect(() => env.compile(source).evaluate({})).toThrow(new CelError(message))
})
