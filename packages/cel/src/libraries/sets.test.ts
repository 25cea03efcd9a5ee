import { expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { CelError } from '../values/cel-error.ts'
import { kubernetesLibraries } from './kubernetes-libraries.ts'

const env = CelEnvironment.create({ libraries: kubernetesLibraries })

const HOLDS = [
  'sets.contains([1, 2, 3], [3, 1]) && !sets.contains([1], [2]) && sets.contains([1], [])',
  'sets.equivalent([1, 2, 2], [2, 1]) && !sets.equivalent([1], [1, 2])',
  'sets.intersects([1, 2], [2, 3]) && !sets.intersects([1], []) && sets.intersects([dyn(1)], [1.0])',
]

const FAILS: [string, string][] = [["sets.contains([dyn(ip('::1'))], [dyn(1)])", 'no such overload']]

test.each(HOLDS)('%s holds', (source) => {
  expect(env.compile(source).evaluate({})).toBe(true)
})

test.each(FAILS)('%s fails', (source, message) => {
  expect(() => env.compile(source).evaluate({})).toThrow(new CelError(message))
})
