import { expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { CelCostError, CelError } from '../values/cel-error.ts'
import { STRING } from '../values/cel-type.ts'
import { kubernetesLibraries } from './kubernetes-libraries.ts'

const env = CelEnvironment.create({ libraries: kubernetesLibraries })
const withText = CelEnvironment.create({
  libraries: kubernetesLibraries,
  variables: { text: STRING, part: STRING },
})

const HOLDS = [
  "'tacocat'.charAt(3) == 'o'",
  "'tacocat'.charAt(7) == ''",
  "'©αT😀'.charAt(3) == '😀'",
  "'tacocat'.indexOf('') == 0",
  "'tacocat'.indexOf('ac') == 1",
  "'tacocat'.indexOf('a', 3) == 5",
  "'ta©o©αT'.indexOf('©', 3) == 4",
  "'a😀b😀c'.indexOf('😀', 2) == 3",
  "'tacocat'.indexOf('a', 50) == -1",
  "'tacocat'.lastIndexOf('') == 7",
  "'tacocat'.lastIndexOf('at') == 5",
  "'ta©o©αT'.lastIndexOf('©') == 4",
  "'a😀b😀c'.lastIndexOf('😀', 2) == 1",
  "'hello mellow'.lastIndexOf('ello', 6) == 1",
  "'a'.lastIndexOf('abc') == -1",
  "'TacoCÆt'.lowerAscii() == 'tacocÆt'",
  "'TacoCæt'.upperAscii() == 'TACOCæT'",
  "'12 days 12 hours'.replace('{0}', '2') == '12 days 12 hours'",
  "'{0} days {0} hours'.replace('{0}', '2') == '2 days 2 hours'",
  "'{0} days {0} hours'.replace('{0}', '2', 1) == '2 days {0} hours'",
  "'{0} days'.replace('{0}', '2', 0) == '{0} days'",
  "'1😀3'.replace('', '-') == '-1-😀-3-'",
  "'abc'.replace('', '-', 2) == '-a-bc'",
  "'hello world'.split(' ') == ['hello', 'world']",
  "'a b c'.split(' ', 2) == ['a', 'b c']",
  "'a b c'.split(' ', 0) == []",
  "'a b c'.split(' ', -1) == ['a', 'b', 'c']",
  "'a😀'.split('') == ['a', '😀']",
  "'abc'.split('', 2) == ['a', 'bc']",
  "''.split(',') == [''] && ''.split('') == []",
  "'tacocat'.substring(4) == 'cat'",
  "'tacocat'.substring(7) == ''",
  "'ta😀oc'.substring(2, 4) == '😀o'",
  "' \\u00a0\\u0085text\\n\\u3000'.trim() == 'text'",
  "'\\ufefftext'.trim() == '\\ufefftext'",
  "['x', 'y'].join() == 'xy' && ['x', 'y'].join('-') == 'x-y' && [].join('-') == ''",
  'strings.quote(\'a\\n"b"\\\\\') == \'"a\\\\n\\\\"b\\\\"\\\\\\\\"\'',
]

const FAILS: [string, string][] = [
  ["'tacocat'.charAt(30) == ''", 'index out of range: 30'],
  ["'tacocat'.indexOf('a', -1) == 0", 'index out of range: -1'],
  ["'tacocat'.lastIndexOf('a', -1) == 0", 'index out of range: -1'],
  ["'tacocat'.substring(40) == ''", 'index out of range: 40'],
  ["'tacocat'.substring(1, 50) == ''", 'index out of range: 50'],
  ["'tacocat'.substring(3, 1) == ''", 'invalid substring range. start: 3, end: 1'],
]

test.each(HOLDS)('%s holds', (source) => {
  expect(env.compile(source).evaluate({})).toBe(true)
})

test.each(FAILS)('%s fails', (source, message) => {
  expect(() => env.compile(source).evaluate({})).toThrow(new CelError(message))
})

test.each([
  ['replace', "text.replace('x', text)"],
  ['replace of the empty text', "text.replace('', text)"],
  ['join', "text.split('').join(text)"],
  ['format', "text.split('').map(x, '%s').join('').format(text.split('').map(x, text))"],
])('%s fails with the cost limit before it creates a text of many gigabytes', (_, source) => {
  const expression = withText.compile(source)
  expect(() => expression.evaluate({ text: 'x'.repeat(20_000) })).toThrow(CelCostError)
})

test.each(['text.indexOf(part)', 'text.lastIndexOf(part)', 'text.replace(part, "")', 'text.split(part)'])(
  '%s takes linear time',
  (source) => {
    const part = `${'a'.repeat(200_000)}b${'a'.repeat(200_000)}`
    for (const prefix of ['', '😀']) {
      const expression = withText.compile(source)
      expect(() => expression.evaluate({ text: prefix + 'a'.repeat(900_000), part: prefix + part })).not.toThrow()
    }
  },
)
