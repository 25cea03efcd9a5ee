import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mergeRules, type PolicyRule } from './policy-rule.ts'

/** All single permissions of the rules. */
function rightsOf(rules: readonly PolicyRule[]): string[] {
  const rights = rules.flatMap(({ apiGroups = [], resources = [], nonResourceURLs = [], verbs }) => [
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) => verbs.map((verb) => `${group}/${resource}/${verb}`)),
    ),
    ...nonResourceURLs.flatMap((url) => verbs.map((verb) => `${url}/${verb}`)),
  ])
  return [...new Set(rights)].sort()
}

describe('mergeRules()', () => {
  test('joins verbs, then resources, then groups, and sorts', () => {
    expect(
      mergeRules([
        { apiGroups: ['b'], resources: ['y'], verbs: ['get'] },
        { apiGroups: ['a'], resources: ['x'], verbs: ['list'] },
        { apiGroups: ['a'], resources: ['x'], verbs: ['get', 'get'] },
        { apiGroups: ['a'], resources: ['w'], verbs: ['get', 'list'] },
        { apiGroups: ['c'], resources: ['y'], verbs: ['get'] },
        { nonResourceURLs: ['/b'], verbs: ['get'] },
        { nonResourceURLs: ['/a'], verbs: ['get'] },
      ]),
    ).toEqual([
      { nonResourceURLs: ['/a', '/b'], verbs: ['get'] },
      { apiGroups: ['a'], resources: ['w', 'x'], verbs: ['get', 'list'] },
      { apiGroups: ['b', 'c'], resources: ['y'], verbs: ['get'] },
    ])
  })

  test('replaces all verbs by *, and keeps rules for names separate', () => {
    expect(
      mergeRules([
        { apiGroups: ['a'], resources: ['x'], verbs: ['get', '*'] },
        { apiGroups: ['a'], resources: ['x'], resourceNames: ['n'], verbs: ['get'] },
      ]),
    ).toEqual([
      { apiGroups: ['a'], resources: ['x'], verbs: ['*'] },
      { apiGroups: ['a'], resources: ['x'], resourceNames: ['n'], verbs: ['get'] },
    ])
  })

  test('preserves exactly the given permissions, in any order', () => {
    const some = (...values: string[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1 })
    const rule: fc.Arbitrary<PolicyRule> = fc.oneof(
      fc.record({ apiGroups: some('', 'a', 'b'), resources: some('x', 'y', 'z'), verbs: some('get', 'list', 'watch') }),
      fc.record({ nonResourceURLs: some('/a', '/b'), verbs: some('get', 'post') }),
    )
    fc.assert(
      fc.property(fc.array(rule), (rules) => {
        const merged = mergeRules(rules)
        expect(rightsOf(merged)).toEqual(rightsOf(rules))
        expect(mergeRules(merged)).toEqual(merged)
        expect(mergeRules(rules.toReversed())).toEqual(merged)
      }),
    )
  })
})
