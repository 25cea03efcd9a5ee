import { expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { CelError } from '../values/cel-error.ts'
import { kubernetesLibraries } from './kubernetes-libraries.ts'

const env = CelEnvironment.create({ libraries: kubernetesLibraries })

const HOLDS = [
  "isURL('https://user:pass@example.com:80/p?q=v#f') && isURL('/path') && !isURL('../path') && !isURL('https://a:b:c/')",
  "url('https://example.com:80/').getScheme() == 'https' && url('/path').getScheme() == ''",
  "url('https://[::1]:80/').getHost() == '[::1]:80' && url('https://[::1]:80/').getHostname() == '::1'",
  "url('https://example.com:80/').getPort() == '80' && url('https://example.com/').getPort() == ''",
  "url('https://example.com/path with spaces/').getEscapedPath() == '/path%20with%20spaces/'",
  "url('https://example.com/p?k1=a&k2=b&k2=c').getQuery() == {'k1': ['a'], 'k2': ['b', 'c']}",
  "url('https://example.com/p?').getQuery() == {}",
  "url('https://example.com/p#f').getEscapedPath() == '/p'",
  "url('https://a/') == url('https://a/') && url('https://a/') != url('https://b/')",
]

const FAILS: [string, string][] = [
  [
    "url('../x').getHost() == ''",
    'URL parse error during conversion from string: parse "../x": invalid URI for request',
  ],
  [
    "url('https://a:b:c/').getHost() == ''",
    'URL parse error during conversion from string: parse "https://a:b:c/": invalid port ":c" after host',
  ],
]

test.each(HOLDS)('%s holds', (source) => {
  expect(env.compile(source).evaluate({})).toBe(true)
})

test.each(FAILS)('%s fails', (source, message) => {
  expect(() => env.compile(source).evaluate({})).toThrow(new CelError(message))
})
