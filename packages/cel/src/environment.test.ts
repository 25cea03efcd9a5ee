import { describe, expect, test } from 'vitest'
import type { CelLibrary } from './define/library.ts'
import { CelEnvironment } from './environment.ts'
import { kubernetesLibraries } from './libraries/kubernetes-libraries.ts'
import { declareSchema } from './schema/declared-type.ts'
import { DYN, INT, listType, mapType, STRING, structType } from './values/cel-type.ts'
import { toNative } from './values/native.ts'
import { CelOptional, type CelValue } from './values/values.ts'

describe('CelEnvironment.extend()', () => {
  const double: CelLibrary = {
    name: 'double',
    functions: [
      {
        name: 'twice',
        overloads: [
          { id: 'twice_int', args: [INT], result: INT, evaluate: (v: number) => v * 2 },
          { id: 'int_twice', args: [INT], result: INT, member: true, evaluate: (v: number) => v * 2 },
        ],
      },
    ],
  }
  const more: CelLibrary = {
    name: 'more',
    functions: [
      {
        name: 'twice',
        overloads: [{ id: 'twice_string', args: [STRING], result: STRING, evaluate: (v: string) => v + v }],
      },
    ],
  }

  test('does not change the extended environment', () => {
    const base = CelEnvironment.create()
    const extended = base.extend({ variables: { x: INT } })
    expect(extended.compile('x + 1').evaluate({ x: 1 })).toBe(2)
    expect(() => base.compile('x + 1')).toThrow("undeclared reference to 'x'")
  })

  test('merges functions of the same name', () => {
    const env = CelEnvironment.create({ libraries: [double, more], variables: { d: DYN } })
    expect(env.compile('twice(2) + 3.twice()').evaluate({})).toBe(10)
    expect(env.compile("twice('a')").evaluate({})).toBe('aa')
    expect(env.compile('twice(d)').evaluate({ d: 'b' })).toBe('bb')
    expect(() => env.compile('twice(d)').evaluate({ d: [] })).toThrow('no such overload: twice(list)')
    expect(() => env.compile('twice(true)')).toThrow("found no matching overload for 'twice' applied to '(bool)'")
  })

  test('checks arguments whose types are known only at run time', () => {
    const env = CelEnvironment.create({ libraries: [double], variables: { d: DYN } })
    expect(env.compile('d.twice()').evaluate({ d: 4 })).toBe(8)
    expect(() => env.compile('d.twice()').evaluate({ d: 'x' })).toThrow('no such overload: twice(string)')
  })

  test('uses the cost of a function from its library', () => {
    const priced: CelLibrary = {
      name: 'priced',
      functions: [
        {
          name: 'spend',
          cost: {
            track: (_id, args) => Number(args[0]),
            estimate: () => ({ cost: { min: 1, max: 99 } }),
          },
          overloads: [{ id: 'spend_int', args: [INT], result: INT, evaluate: (v: number) => v }],
        },
      ],
    }
    const expression = CelEnvironment.create({ libraries: [priced] }).compile('spend(50) + spend(20)')
    const meter = { limit: 1000, cost: 0 }
    expression.evaluate({}, meter)
    expect(meter.cost).toBe(71)
    expect(expression.estimateCost()).toEqual({ min: 3, max: 199 })
    meter.limit = 60
    expect(() => expression.evaluate({}, meter)).toThrow('operation cancelled: actual cost limit exceeded')
  })
})

describe('CelEnvironment for admission', () => {
  const types: CelLibrary = {
    name: 'admission',
    types: [
      {
        type: structType('kubernetes.UserInfo'),
        identifier: false,
        fields: { username: STRING, groups: listType(STRING) },
      },
      {
        type: structType('kubernetes.AdmissionRequest'),
        identifier: false,
        fields: { operation: STRING, userInfo: structType('kubernetes.UserInfo'), options: DYN },
      },
    ],
  }
  const env = CelEnvironment.create({ libraries: [...kubernetesLibraries, types] }).extend({
    variables: {
      object: DYN,
      oldObject: DYN,
      request: structType('kubernetes.AdmissionRequest'),
      labels: mapType(STRING, STRING),
    },
  })
  const variables = {
    object: { metadata: { name: 'web', labels: { app: 'web' } }, spec: { replicas: 3, ratio: 0.5 }, data: {} },
    oldObject: null,
    request: { operation: 'CREATE', userInfo: { username: 'amy', groups: ['dev'] } },
    labels: { a: 'b' },
  }

  test.each<[string, unknown]>([
    ["request.operation == 'CREATE' && 'dev' in request.userInfo.groups", true],
    ['oldObject == null', true],
    ['object.spec.replicas <= 5 && object.spec.ratio < 1', true],
    ["has(object.metadata.labels) && 'app' in object.metadata.labels", true],
    ['object.metadata.?annotations.orValue({}).size()', 0],
    ["object.metadata.?labels[?'app'].orValue('none') + labels.a", 'webb'],
    ["object.metadata.labels.all(k, v, k.size() <= 63 && v == 'web')", true],
    ["'replicas ' + string(object.spec.replicas)", 'replicas 3'],
    ['has(request.options)', false],
  ])('%s', (source, value) => {
    expect(toNative(env.compile(source).evaluate(variables))).toEqual(value)
  })

  test('rejects fields that the declared types do not have', () => {
    expect(() => env.compile('request.nope')).toThrow("undefined field 'nope'")
    expect(() => env.compile("object.data['k'] == 'x'").evaluate(variables)).toThrow('no such key: k')
    expect(() => env.compile("object.data.k == 'x'").evaluate(variables)).toThrow('no such key: k')
  })
})

test('CelEnvironment allows an optional variable to be missing', () => {
  const self = declareSchema({ type: 'object', properties: { n: { type: 'integer' } } })!
  const env = CelEnvironment.create({ variables: { self, oldSelf: { optional: self } } })
  const rule = env.compile('oldSelf.?n.orValue(0) <= self.n')
  expect(rule.evaluate({ self: { n: 1 } })).toBe(true)
  expect(rule.evaluate({ self: { n: 1 }, oldSelf: { n: 2 } })).toBe(false)
  expect(rule.evaluate({ self: { n: 1 }, oldSelf: CelOptional.NONE })).toBe(true)
  const all: CelValue = env.compile('oldSelf.hasValue()').evaluate({ self: {}, oldSelf: {} })
  expect(all).toBe(true)
})

test('a field of a declared variable that is null does not exist', () => {
  const declared = declareSchema({ type: 'object', properties: { n: { type: 'integer' } } })!
  const env = CelEnvironment.create({
    variables: { x: { ...declared, read: (json) => (json === null ? null : declared.read(json)) } },
  })
  expect(() => env.compile('x.n == 1').evaluate({ x: null })).toThrow('no such key: n')
  expect(env.compile('has(x.n)').evaluate({ x: null })).toBe(false)
  expect(env.compile('x == null').evaluate({ x: null })).toBe(true)
})
