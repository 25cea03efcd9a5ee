import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deepCopy } from './deep-copy.ts'
import { deepEqual } from './deep-equal.ts'
import { deepFreeze } from './deep-freeze.ts'
import { createDraft, produce } from './produce.ts'

interface Home {
  spec: { image: string; replicas?: number; args: string[] }
  labels: Record<string, string>
  rules: { path: string; ports: number[] }[]
}

const frozenHome = (): Home =>
  // The type stays mutable because the tests write to drafts of the value.
  deepFreeze({
    spec: { image: 'nginx', replicas: 1, args: ['-v'] },
    labels: { app: 'home' },
    rules: [
      { path: '/a', ports: [80] },
      { path: '/b', ports: [443, 8443] },
    ],
  }) as unknown as Home

describe('produce()', () => {
  test('changes only the parts that the recipe changes and shares the rest', () => {
    const base = frozenHome()
    const next = produce(base, (draft) => {
      draft.spec.replicas = 3
    })
    expect(next).toEqual({ ...frozenHome(), spec: { image: 'nginx', replicas: 3, args: ['-v'] } })
    expect(base).toEqual(frozenHome())
    expect(next.spec).not.toBe(base.spec)
    expect(next.spec.args).toBe(base.spec.args)
    expect(next.labels).toBe(base.labels)
    expect(next.rules).toBe(base.rules)
  })

  test.each<[name: string, recipe: (draft: Home) => void]>([
    ['does nothing', () => undefined],
    ['only reads', (draft) => void JSON.stringify(draft)],
    ['assigns the same value', (draft) => void (draft.spec.image = 'nginx')],
    ['assigns a child to itself', (draft) => void (draft.rules[0] = draft.rules[0]!)],
    [
      'changes a value and restores it',
      (draft) => {
        draft.spec.image = 'x'
        draft.spec.image = 'nginx'
      },
    ],
    [
      'deletes and sets again',
      (draft) => {
        delete draft.labels['app']
        draft.labels['app'] = 'home'
      },
    ],
    ['replaces a part by an equal one', (draft) => void (draft.spec = { image: 'nginx', replicas: 1, args: ['-v'] })],
    ['replaces a part by a spread of it', (draft) => void (draft.rules = draft.rules.map((rule) => ({ ...rule })))],
    [
      'pushes and pops',
      (draft) => {
        draft.rules.push({ path: '/c', ports: [] })
        draft.rules.pop()
      },
    ],
    ['reverses twice', (draft) => void draft.rules.reverse().reverse()],
    ['adds a property that is undefined', (draft) => void Object.assign(draft.spec, { extra: undefined })],
  ])('returns the base itself when the recipe %s', (_, recipe) => {
    const base = frozenHome()
    expect(produce(base, recipe)).toBe(base)
  })

  test.each<[name: string, recipe: (draft: Home) => void]>([
    ['push', (draft) => void draft.spec.args.push('-x', '-y')],
    ['pop', (draft) => void draft.rules.pop()],
    ['shift', (draft) => void draft.rules.shift()],
    ['unshift', (draft) => void draft.rules.unshift({ path: '/0', ports: [] })],
    ['splice', (draft) => void draft.rules.splice(0, 1, { path: '/x', ports: [1] }, { path: '/y', ports: [2] })],
    ['sort', (draft) => void draft.rules.sort((a, b) => b.path.localeCompare(a.path))],
    ['reverse', (draft) => void draft.rules.reverse()],
    ['fill', (draft) => void draft.spec.args.fill('z')],
    ['length', (draft) => void (draft.rules.length = 1)],
    ['growing length', (draft) => void (draft.rules.length = 4)],
    ['delete of an element', (draft) => void delete (draft.rules as unknown[])[0]],
    ['filter', (draft) => void (draft.rules = draft.rules.filter((rule) => rule.path === '/b'))],
    ['delete of a property', (draft) => void delete draft.spec.replicas],
    ['delete of a part', (draft) => void Reflect.deleteProperty(draft, 'labels')],
    ['Object.assign', (draft) => void Object.assign(draft.labels, { tier: 'web' })],
    [
      'a change after a move',
      (draft) => {
        draft.rules.reverse()
        draft.rules[0]!.path = '/moved'
      },
    ],
    ['a change to what find returns', (draft) => void draft.rules.find((rule) => rule.path === '/b')!.ports.push(1)],
    ['a change inside map', (draft) => void draft.rules.map((rule) => rule.ports.push(9))],
    [
      'a part in two places',
      (draft) => {
        draft.rules.push(draft.rules[0]!)
        draft.rules[0]!.path = '/both'
      },
    ],
    ['a draft inside a new object', (draft) => void (draft.rules = [{ path: '/new', ports: draft.rules[1]!.ports }])],
    [
      'a change to an inserted object',
      (draft) => {
        draft.labels = { a: '1' }
        draft.labels['b'] = '2'
      },
    ],
    ['a property that is set to undefined', (draft) => void (draft.spec.replicas = undefined as unknown as number)],
  ])('gives the same result as changing a copy: %s', (_, recipe) => {
    const base = frozenHome()
    const copy: Home = deepCopy(base)
    recipe(copy)
    const next = produce(base, recipe)
    expect(next).toStrictEqual(copy)
    expect(base).toEqual(frozenHome())
    expectDeeplyFrozen(next)
  })

  test('does not modify objects that the recipe inserted', () => {
    const labels = { app: 'other' }
    const next = produce(frozenHome(), (draft) => {
      draft.labels = labels
    })
    labels.app = 'changed later'
    expect(next.labels).toEqual({ app: 'other' })
  })

  test('shares a frozen object that the recipe inserted', () => {
    const labels = deepFreeze({ app: 'other' })
    const next = produce(frozenHome(), (draft) => {
      draft.labels = labels
    })
    expect(next.labels).toBe(labels)
  })

  test('lets the recipe change a frozen object that it inserted, without modifying it', () => {
    const labels = deepFreeze({ app: 'other' })
    const next = produce(frozenHome(), (draft) => {
      draft.labels = labels
      draft.labels['tier'] = 'web'
    })
    expect(next.labels).toEqual({ app: 'other', tier: 'web' })
    expect(labels).toEqual({ app: 'other' })
  })

  test('resolves drafts inside frozen objects that the recipe inserted', () => {
    const next = produce(frozenHome(), (draft) => {
      draft.rules[1]!.ports.push(1)
      draft.rules = [Object.freeze({ path: '/x', ports: draft.rules[1]!.ports })]
    })
    expect(next.rules).toEqual([{ path: '/x', ports: [443, 8443, 1] }])
  })

  test('neither freezes the result of an unfrozen base nor changes that base', () => {
    const base = deepCopy(frozenHome())
    const next = produce(base, (draft) => {
      draft.rules[0]!.ports.push(81)
    })
    expect(base).toEqual(frozenHome())
    expect(next.rules[0]?.ports).toEqual([80, 81])
    expect(Object.isFrozen(next.rules)).toBe(false)
  })

  test('keeps an own __proto__ as a property', () => {
    const key = '__proto__' as string
    const base = deepFreeze(JSON.parse('{"__proto__":{"a":1},"b":{}}')) as Record<string, Record<string, number>>
    const next = produce(base, (draft) => {
      draft[key]!['a'] = 2
      draft['b']![key] = 3
    })
    expect(JSON.stringify(next)).toBe('{"__proto__":{"a":2},"b":{"__proto__":3}}')
    expect(Object.getPrototypeOf(next)).toBe(Object.prototype)
  })

  test('revokes the draft and its parts', () => {
    const kept: { path: string }[] = []
    produce(frozenHome(), (draft) => void kept.push(draft.rules[0]!))
    expect(() => kept[0]?.path).toThrow(TypeError)
  })

  test('revokes the draft and rethrows when the recipe throws', () => {
    const base = frozenHome()
    let kept: Home | undefined
    const run = (): Home =>
      produce(base, (draft) => {
        kept = draft
        draft.spec.image = 'x'
        throw new Error('no')
      })
    expect(run).toThrow('no')
    expect(() => kept?.spec).toThrow(TypeError)
    expect(base).toEqual(frozenHome())
  })

  test('rejects an asynchronous recipe, a cyclic draft and values that are not JSON data', () => {
    const base = frozenHome()
    const asynchronous = (() => Promise.resolve()) as () => void
    expect(() => produce(base, asynchronous)).toThrow('use createDraft and finish')
    const cycle = (draft: Record<string, unknown>): void => void (draft['self'] = draft)
    expect(() => produce({} as Record<string, unknown>, cycle)).toThrow('it contains itself')
    const date = (draft: Record<string, unknown>): void => void (draft['at'] = new Date(0))
    expect(() => produce({} as Record<string, unknown>, date)).toThrow('Cannot produce Date: it is not JSON data')
    expect(() => produce(base, (draft) => void Object.defineProperty(draft, 'x', { get: () => 1 }))).toThrow('accessor')
    expect(() => produce(base, (draft) => void Object.freeze(draft))).toThrow(TypeError)
    expect(() => produce(base, (draft) => void Object.setPrototypeOf(draft, null))).toThrow(TypeError)
  })

  test('gives the same result as changing a copy, for any value and any sequence of changes', () => {
    const value = fc.jsonValue({ maxDepth: 3 })
    const root = fc.oneof(
      fc.array(value),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { noNullPrototype: true }),
    )
    const change = fc.record({
      path: fc.array(fc.nat(), { maxLength: 3 }),
      from: fc.array(fc.nat(), { maxLength: 3 }),
      op: fc.constantFrom('set', 'delete', 'push', 'splice', 'reverse', 'move', 'wrap'),
      at: fc.nat(),
      value,
    })
    type Change = typeof change extends fc.Arbitrary<infer C> ? C : never

    fc.assert(
      fc.property(root, fc.array(change, { maxLength: 8 }), (base, changes) => {
        deepFreeze(base)
        const before = JSON.stringify(base)
        const recipe = (draft: object): void => {
          for (const step of changes) apply(draft, step)
        }
        const copy = deepCopy(base)
        recipe(copy)
        const next = produce(base, recipe)
        expect(next).toStrictEqual(copy)
        expect(JSON.stringify(base)).toBe(before)
        expect(next === base).toBe(deepEqual(next, base))
        expectDeeplyFrozen(next)
      }),
      { numRuns: 500 },
    )

    function apply(root: object, { path, from, op, at, value }: Change): void {
      const target = walk(root, path) as Record<string, unknown>
      const list = Array.isArray(target) ? (target as unknown[]) : undefined
      const keys = Object.keys(target)
      const key = keys[at % (keys.length + 1)] ?? (list === undefined ? 'new' : String(list.length))
      // Values are copied because the changes are applied twice.
      if (op === 'set') target[key] = deepCopy(value)
      else if (op === 'delete' && list === undefined) delete target[key]
      else if (op === 'push') list?.push(deepCopy(value))
      else if (op === 'splice') list?.splice(at % (list.length + 1), at % 3, deepCopy(value))
      else if (op === 'reverse') list?.reverse()
      // A copy of another part, so that no cycle can arise.
      else if (op === 'move') target[key] = deepCopy(walk(root, from))
      else if (op === 'wrap' && key in target) target[key] = { wrapped: target[key] }
    }

    // Follows a path of indices as far as there are objects.
    function walk(root: object, path: number[]): object {
      let current = root
      for (const position of path) {
        const children = Object.values(current).filter((child) => typeof child === 'object' && child !== null)
        if (children.length === 0) return current
        current = children[position % children.length]
      }
      return current
    }
  })
})

describe('createDraft()', () => {
  test('allows changes over time and can be finished once', async () => {
    const base = frozenHome()
    const { draft, finish } = createDraft(base)
    draft.spec.image = 'a'
    await Promise.resolve()
    draft.spec.args.push('-w')
    const next = finish()
    expect(next.spec).toEqual({ image: 'a', replicas: 1, args: ['-v', '-w'] })
    expect(finish()).toBe(next)
    expect(() => draft.spec).toThrow(TypeError)
  })

  test('cannot be finished after discard()', () => {
    const handle = createDraft(frozenHome())
    handle[Symbol.dispose]()
    expect(() => handle.finish()).toThrow('Cannot finish draft: it was discarded')
    expect(() => handle.draft.spec).toThrow(TypeError)
  })

  test('takes a snapshot of a draft of another session, or the result of a finished one', () => {
    const other = createDraft(frozenHome())
    other.draft.labels['tier'] = 'web'
    const during = produce(frozenHome(), (draft) => {
      draft.labels = other.draft.labels
    })
    other.draft.labels['tier'] = 'db'
    const { labels } = other.draft
    const finished = other.finish()
    const after = produce(frozenHome(), (draft) => {
      draft.labels = labels
    })
    expect(during.labels).toEqual({ app: 'home', tier: 'web' })
    expect(after.labels).toBe(finished.labels)
    expect(finished.labels).toEqual({ app: 'home', tier: 'db' })
  })
})

function expectDeeplyFrozen(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  expect(Object.isFrozen(value)).toBe(true)
  for (const item of Object.values(value)) expectDeeplyFrozen(item)
}
