import { expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { CelError } from '../values/cel-error.ts'
import { kubernetesLibraries } from './kubernetes-libraries.ts'

const env = CelEnvironment.create({ libraries: kubernetesLibraries })

const HOLDS = [
  "'this is a 123 string 456'.find('[0-9]+') == '123'",
  "'abc'.find('[0-9]+') == ''",
  "'123 abc 456'.findAll('[0-9]*') == ['123', '', '', '', '', '456']",
  "'123 abc 456'.findAll('[0-9]+', 1) == ['123']",
  "'123 abc 456'.findAll('[0-9]+', 0) == []",
  "'123 abc 456'.findAll('xyz') == []",
]

const FAILS: [string, string][] = [
  ["'a'.find('a'.replace('a', ')')) == ''", 'Illegal regex: error parsing regexp: unexpected ): `)`'],
]

test.each(HOLDS)('%s holds', (source) => {
  expect(env.compile(source).evaluate({})).toBe(true)
})

test.each(FAILS)('%s fails', (source, message) => {
  expect(() => env.compile(source).evaluate({})).toThrow(new CelError(message))
})
