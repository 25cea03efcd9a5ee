import { type CelType, INT, STRING } from '@kubewright/cel'
import { expect, test } from 'vitest'
import { admissionEnvironment } from './admission-expressions.ts'

test('admissionEnvironment() is created once for the variables of a policy, and knows those that are added later', () => {
  const variables = new Map<string, CelType>([['a', INT]])
  const environment = () => admissionEnvironment({ params: false, authorizer: true, variables })
  const first = environment()
  expect(() => first.compile('variables.b')).toThrow('undefined field')
  expect(first.compile('variables.a').outputType).toBe(INT)
  variables.set('b', STRING)
  expect(environment()).toBe(first)
  expect(first.compile('variables.b').outputType).toBe(STRING)
  expect(() => first.compile('variables.constructor')).toThrow('undefined field')
})
