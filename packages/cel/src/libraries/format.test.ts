import { expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { CelError } from '../values/cel-error.ts'
import { kubernetesLibraries } from './kubernetes-libraries.ts'

const env = CelEnvironment.create({ libraries: kubernetesLibraries })

const HOLDS = [
  "!format.dns1123Label().validate('my-name').hasValue()",
  "format.dns1123Label().validate('contains.dots').value() == ['must not contain dots']",
  "!format.dns1123SubdomainPrefix().validate('web-').hasValue() && format.dns1123Subdomain().validate('web-').hasValue()",
  "!format.labelValue().validate('').hasValue() && !format.qualifiedName().validate('a.b/c').hasValue()",
  "format.uri().validate('x').value() == ['parse \"x\": invalid URI for request']",
  "format.uuid().validate('x').value() == ['does not match the UUID format']",
  "format.byte().validate('x').value() == ['invalid base64'] && !format.byte().validate('aGk=').hasValue()",
  "format.date().validate('2021-02-29').value() == ['invalid date'] && !format.datetime().validate('2021-01-01T00:00:00Z').hasValue()",
  "format.named('dns1123Label').value() == format.dns1123Label() && !format.named('nothing').hasValue()",
]

const FAILS: [string, string][] = [["format.dns1123Label() == dyn('DNS1123Label')", 'no such overload']]

test.each(HOLDS)('%s holds', (source) => {
  expect(env.compile(source).evaluate({})).toBe(true)
})

test.each(FAILS)('%s fails', (source, message) => {
  expect(() => env.compile(source).evaluate({})).toThrow(new CelError(message))
})
