import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { resourceAttributes } from '../authorizer.ts'
import { compactRules, type PolicyRule, ruleAllows, ruleText } from './policy-rule.ts'
import { maxUncovered, RulesTooComplexError, uncoveredRules } from './rule-coverage.ts'

const user = { name: 'jane', groups: [] }
const asking = (verb: string, group: string, resource: string, subresource = '', name = '') =>
  resourceAttributes(user, { verb, group, resource, subresource, name })
const path = (verb: string, of: string) => ({
  ...resourceAttributes(user, { verb, group: '', resource: '' }),
  isResource: false,
  path: of,
})

describe('ruleAllows()', () => {
  test.each<[PolicyRule, ReturnType<typeof asking>, boolean]>([
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }, asking('get', '', 'pods'), true],
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }, asking('get', '', 'pods', 'log'), false],
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods/log'] }, asking('get', '', 'pods', 'log'), true],
    [{ verbs: ['get'], apiGroups: [''], resources: ['*/scale'] }, asking('get', '', 'x', 'scale'), true],
    [{ verbs: ['get'], apiGroups: [''], resources: ['*/scale'] }, asking('get', '', 'scale'), false],
    [{ verbs: ['get'], apiGroups: [''], resources: ['pods/*'] }, asking('get', '', 'pods', 'log'), false],
    [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }, asking('any', 'x', 'y', 'z', 'n'), true],
    [{ verbs: ['get'], apiGroups: ['apps'], resources: ['*'] }, asking('get', '', 'pods'), false],
    [
      { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      asking('get', '', 'pods', '', 'a'),
      true,
    ],
    [
      { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      asking('get', '', 'pods', '', 'b'),
      false,
    ],
    [
      { verbs: ['list'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
      asking('list', '', 'pods'),
      false,
    ],
    [
      { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: [] },
      asking('get', '', 'pods', '', 'b'),
      true,
    ],
    [{ verbs: null }, asking('get', '', 'pods'), false],
    [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }, path('get', '/healthz'), true],
    [{ verbs: ['get'], nonResourceURLs: ['/healthz'] }, path('get', '/healthz/x'), false],
    [{ verbs: ['get'], nonResourceURLs: ['/healthz/*'] }, path('get', '/healthz/x/y'), true],
    [{ verbs: ['get'], nonResourceURLs: ['*'] }, path('get', '/x'), true],
    [{ verbs: ['get'], nonResourceURLs: ['*'] }, asking('get', '', 'pods'), false],
    [{ verbs: ['get'], apiGroups: ['*'], resources: ['*'] }, path('get', '/x'), false],
  ])('%j on %j', (rule, asked, allowed) => {
    expect(ruleAllows(rule, asked)).toBe(allowed)
  })
})

const some = (...items: string[]): fc.Arbitrary<string[]> =>
  fc.uniqueArray(fc.constantFrom(...items), { minLength: 1, maxLength: 3 })
const rules = fc.array(
  fc.oneof(
    fc.record({
      verbs: some('get', 'list', '*'),
      apiGroups: some('', 'apps', '*'),
      resources: some('pods', 'pods/log', '*/log', '*'),
      resourceNames: fc.option(some('a', 'b'), { nil: [] as string[] }),
    }),
    fc.record({ verbs: some('get', 'put', '*'), nonResourceURLs: some('/a', '/a/b', '/a/*', '*') }),
  ),
  { maxLength: 4 },
)
const attributes = fc.oneof(
  fc
    .tuple(
      fc.constantFrom('get', 'list', 'odd'),
      fc.constantFrom('', 'apps', 'odd'),
      fc.constantFrom('pods', 'odd'),
      fc.constantFrom('', 'log', 'odd'),
      fc.constantFrom('', 'a', 'b', 'odd'),
    )
    .map((parts) => asking(...parts)),
  fc
    .tuple(fc.constantFrom('get', 'put', 'odd'), fc.constantFrom('/a', '/a/b', '/a/b/c', '/odd'))
    .map((parts) => path(...parts)),
)

describe('uncoveredRules()', () => {
  test('is empty only when the held rules cover the wanted ones', () => {
    fc.assert(
      fc.property(rules, rules, attributes, (owner, servant, asked) => {
        const allows = (list: readonly PolicyRule[]): boolean => list.some((rule) => ruleAllows(rule, asked))
        const missing = uncoveredRules(owner, servant).rules
        // Every missing permission is reported, and compacting loses none.
        if (allows(servant) && !allows(owner)) {
          expect(allows(missing)).toBe(true)
          expect(allows(compactRules(missing))).toBe(true)
        }
        // Nothing is reported that was not wanted.
        if (allows(missing)) expect(allows(servant)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  test('finds nothing uncovered in a set of rules by itself', () => {
    fc.assert(
      fc.property(rules, (list) => {
        expect(uncoveredRules(list, list).rules).toEqual([])
      }),
    )
  })
})

describe('uncoveredRules() of rules with many combinations', () => {
  const many = (prefix: string): string[] => Array.from({ length: 500 }, (_, i) => `${prefix}${i}`)
  const large = { apiGroups: many('g'), resources: many('r'), verbs: many('v') }

  test('compares 125 million permissions in few steps', () => {
    expect(uncoveredRules([large], [large], 10_000)).toEqual({ rules: [], truncated: false })
    expect(uncoveredRules([{ ...large, verbs: ['*'] }], [large], 10_000).rules).toEqual([])
  })

  test('reports one missing permission among them', () => {
    const held = [large, { ...large, verbs: ['x'], apiGroups: many('g').slice(1) }]
    const wanted = { ...large, verbs: [...large.verbs, 'x'], resources: ['r7'] }
    expect(uncoveredRules(held, [wanted], 10_000).rules).toEqual([
      { apiGroups: ['g0'], resources: ['r7'], verbs: ['x'] },
    ])
  })

  test('reports a bounded number of missing permissions', () => {
    const { rules, truncated } = uncoveredRules([], [large])
    expect([rules.length, truncated]).toEqual([maxUncovered, true])
  })

  test('refuses to compare rules that need more steps than allowed', () => {
    // Every value is a class of its own, and every combination is covered.
    const held = [
      ...large.apiGroups.map((g) => ({ ...large, apiGroups: [g] })),
      ...large.verbs.map((v) => ({ ...large, verbs: [v] })),
    ]
    expect(() => uncoveredRules(held, [large])).toThrow(RulesTooComplexError)
  })
})

describe('ruleText()', () => {
  test('prints lists as Go does and omits empty ones', () => {
    expect(ruleText({ verbs: ['get', 'list'], apiGroups: ['', 'a"b'], resources: ['pods'], resourceNames: [] })).toBe(
      '{APIGroups:["" "a\\"b"], Resources:["pods"], Verbs:["get" "list"]}',
    )
  })
})
