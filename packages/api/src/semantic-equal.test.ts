import { describe, expect, test } from 'vitest'
import { semanticEqual } from './semantic-equal.ts'

const limits = (cpu: unknown) => ({ spec: { containers: [{ name: 'a', resources: { limits: { cpu } } }] } })

describe('semanticEqual()', () => {
  test.each([
    [{ a: null }, {}],
    [{ a: [] }, { a: null }],
    [{ a: { b: {} } }, undefined],
    [[], {}],
    [limits('1'), limits('1000m')],
    [limits(1), limits('1')],
    [limits('1Gi'), limits('1024Mi')],
    [{ emptyDir: { sizeLimit: '1Gi' } }, { emptyDir: { sizeLimit: '1024Mi' } }],
  ])('%j equals %j', (a, b) => {
    expect([semanticEqual(a, b), semanticEqual(b, a)]).toEqual([true, true])
  })

  test.each([
    [{ a: '' }, {}],
    [{ a: 0 }, {}],
    [{ a: false }, {}],
    [[{}], []],
    [
      [1, 2],
      [2, 1],
    ],
    [{ a: [] }, { a: [0] }],
    [limits('1'), limits('1001m')],
    [limits('1'), limits('none')],
    [limits('1'), limits(undefined)],
    // Only fields that hold quantities are compared by value.
    [{ env: [{ name: 'CPU', value: '1' }] }, { env: [{ name: 'CPU', value: '1000m' }] }],
    [{ data: { limits: '1' } }, { data: { limits: '1000m' } }],
    [JSON.parse('{"__proto__": {"a": 1}}'), {}],
  ])('%j differs from %j', (a, b) => {
    expect([semanticEqual(a, b), semanticEqual(b, a)]).toEqual([false, false])
  })

  test('compares the quantities of own kinds that the caller names', () => {
    const [a, b] = [{ spec: { memory: '1Gi' } }, { spec: { memory: '1024Mi' } }]
    expect(semanticEqual(a, b)).toBe(false)
    expect(semanticEqual(a, b, { quantities: ['memory'] })).toBe(true)
  })
})
