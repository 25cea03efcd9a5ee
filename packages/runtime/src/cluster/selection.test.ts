import { type KubeObject, parseSelector } from '@kubewright/api'
import { Pod } from '@kubewright/k8s'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { implies, impliesKey, type StoreSelection, selectionOf } from './selection.ts'
import { matchesQuery, storedQuery } from './stored-query.ts'

const selection = (labels: string, fields = ''): StoreSelection => {
  const found = selectionOf(Pod, labels, fields, 'live')
  if (found === undefined || found === 'unknown') throw new Error('a selection was expected')
  return found
}
const query = (labels: string, fields = '') => storedQuery(Pod, { selector: labels, fieldSelector: fields })!

describe('implies()', () => {
  test.each([
    ['app=a', 'app', true],
    ['app=a,tier=x', 'app=a', true],
    ['app in (a,b)', 'app in (a,b,c)', true],
    ['app in (a,b)', 'app=a', false],
    ['app=a', 'app!=b', true],
    ['app=a', 'app!=a', false],
    ['app notin (a,b)', 'app!=a', true],
    ['app!=a', 'app notin (a,b)', false],
    ['!app', 'app!=a', true],
    ['!app', '!app', true],
    ['!app', 'app', false],
    ['app', 'app=a', false],
    ['size=5', 'size>3', true],
    ['size=2', 'size>3', false],
    ['', 'app', false],
  ])('labels %s imply %s: %s', (given, wanted, expected) => {
    expect(implies(query(given), selection(wanted))).toBe(expected)
  })

  test.each([
    ['spec.nodeName=a', 'spec.nodeName=a', true],
    ['spec.nodeName=a', 'spec.nodeName=b', false],
    ['spec.nodeName=a', 'spec.nodeName!=b', true],
    ['spec.nodeName!=b', 'spec.nodeName!=b', true],
    ['spec.nodeName!=b', 'spec.nodeName=a', false],
    ['', 'spec.nodeName=a', false],
  ])('fields %s imply %s: %s', (given, wanted, expected) => {
    expect(implies(query('', given), selection('', wanted))).toBe(expected)
  })

  test('never holds for a query that matches an object outside the selection', () => {
    const value = fc.constantFrom('1', '2', '3', 'x')
    const requirement = fc.oneof(
      fc.constantFrom('a', '!a', 'b', '!b', 'a>1', 'a<3'),
      fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom('=', '!='), value).map((parts) => parts.join('')),
      fc
        .tuple(fc.constantFrom('a', 'b'), fc.constantFrom('in', 'notin'), fc.uniqueArray(value, { minLength: 1 }))
        .map(([key, operator, values]) => `${key} ${operator} (${values.join(',')})`),
    )
    const selector = fc.array(requirement, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(','))
    const labels = fc.record({ a: value, b: value }, { requiredKeys: [] })
    fc.assert(
      fc.property(selector, selector, labels, (given, wanted, found) => {
        fc.pre(implies(query(given), selection(wanted)) && parseSelector(given).matches(found))
        expect(parseSelector(wanted).matches(found)).toBe(true)
      }),
      { numRuns: 500, seed: 7 },
    )
  })
})

describe('selectionOf()', () => {
  test('returns undefined without selectors, and unknown for fields that only the server knows', () => {
    expect(selectionOf(Pod, '', '', 'live')).toBeUndefined()
    expect(selectionOf(Pod, '', '', 'absent')).toMatchObject({ outside: 'absent' })
    expect(selectionOf(Pod, '', 'spec.notThere=1', 'live')).toBe('unknown')
    const object = { metadata: { labels: { app: 'a' } }, spec: { nodeName: 'n' } } as unknown as KubeObject
    expect(matchesQuery(selection('app=a', 'spec.nodeName=n'), object)).toBe(true)
    expect(matchesQuery(selection('app=a', 'spec.nodeName=m'), object)).toBe(false)
  })
})

describe('impliesKey()', () => {
  test('holds when the selectors depend on name and namespace alone', () => {
    const one = selection('', 'metadata.name=a')
    expect([impliesKey('a', 'x', one), impliesKey('b', 'x', one)]).toEqual([true, false])
    expect(impliesKey('a', 'x', selection('', 'metadata.namespace!=y'))).toBe(true)
    expect(impliesKey('a', 'x', selection('app', 'metadata.name=a'))).toBe(false)
  })
})
