import { describe, expect, test } from 'vitest'
import { CelEnvironment } from '../environment.ts'
import { DYN } from '../values/cel-type.ts'
import { CelObject, objectTypesLibrary } from './object-types.ts'

const environment = CelEnvironment.create({ libraries: [objectTypesLibrary], variables: { object: DYN } })

function evaluate(expression: string): CelObject {
  const value = environment.compile(expression).evaluate({ object: { spec: { replicas: 2 } } })
  if (!(value instanceof CelObject)) throw new TypeError(`not an object: ${value}`)
  return value
}

describe('objectTypesLibrary', () => {
  test('creates objects of any fields', () => {
    const value = evaluate(`Object{
      metadata: Object.metadata{labels: {"a": "b"}},
      spec: Object.spec{replicas: object.spec.replicas + 1, items: [Object.spec.items{name: "x"}]},
    }`)
    expect(value.toNative()).toEqual({
      metadata: { labels: { a: 'b' } },
      spec: { replicas: 3, items: [{ name: 'x' }] },
    })
    expect(value.typeProblems()).toEqual([])
  })

  test('reports parts whose type names another path', () => {
    expect(evaluate('Object{spec: Object.spec{selector: Object.spec.wrong{}}}').typeProblems()).toEqual([
      'unexpected type name "Object.spec.wrong", expected "Object.spec.selector", which matches field name path from root Object type',
    ])
  })

  test('compares objects by type and fields', () => {
    const compare = (text: string): unknown => environment.compile(text).evaluate({ object: {} })
    expect(compare('Object.spec{a: 1} == Object.spec{a: 1}')).toBe(true)
    expect(compare('Object.spec{a: 1} == Object.spec{a: 2}')).toBe(false)
    expect(compare('dyn(Object.spec{a: 1}) == dyn(Object.status{a: 1})')).toBe(false)
  })

  test('is not part of other environments', () => {
    expect(() => CelEnvironment.create().compile('Object{}')).toThrow("undeclared reference to 'Object'")
  })
})
