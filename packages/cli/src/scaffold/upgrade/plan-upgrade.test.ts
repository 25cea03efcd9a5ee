import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mergeWithConflicts } from './merge-conflicts.ts'
import { mergeJson } from './merge-json.ts'
import { planUpgrade, type UpgradedFile } from './plan-upgrade.ts'

const names = { ours: 'yours', base: 'kubewright 0.1.0', theirs: 'kubewright 0.2.0' }
const merge = (base: string, ours: string, theirs: string) => mergeWithConflicts(base, ours, theirs, names)

describe('mergeWithConflicts()', () => {
  test('combines changes of different lines', () => {
    expect(merge('a\nb\nc\nd\n', 'A\nb\nc\nd\n', 'a\nb\nc\nD\n')).toEqual({ text: 'A\nb\nc\nD\n', conflicts: 0 })
    expect(merge('a\n', 'a\nb\n', 'a\nb\n')).toEqual({ text: 'a\nb\n', conflicts: 0 })
  })

  test('marks lines that both sides changed, with all three texts', () => {
    expect(merge('a\nb\nc\n', 'a\nmine\nc\n', 'a\nnew\nc\n')).toEqual({
      text: 'a\n<<<<<<< yours\nmine\n||||||| kubewright 0.1.0\nb\n=======\nnew\n>>>>>>> kubewright 0.2.0\nc\n',
      conflicts: 1,
    })
  })

  test('loses no line of either side, and only drops lines that one side removed', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 8 })
    fc.assert(
      fc.property(text, text, text, (base, ours, theirs) => {
        const [one, two, three] = [base, ours, theirs].map((lines) => lines.map((line) => `${line}\n`).join(''))
        const merged = merge(one!, two!, three!)
        const lines = merged.text.split('\n')
        for (const side of [ours, theirs]) {
          const other = side === ours ? theirs : ours
          for (const line of new Set(side)) {
            const isRemoved = base.includes(line) && !other.includes(line)
            if (!isRemoved) expect(lines).toContain(line)
          }
        }
        if (one === two) expect(merged).toEqual({ text: three, conflicts: 0 })
        if (one === three) expect(merged).toEqual({ text: two, conflicts: 0 })
      }),
    )
  })
})

describe('mergeJson()', () => {
  test('merges fields, keeps the order and the values of the user, and lists conflicts', () => {
    const base = '{ "name": "x", "dependencies": { "kubewright": "0.1.0", "tsx": "1" }, "old": 1 }'
    const ours =
      '{\n\t"dependencies": { "mine": "9", "kubewright": "0.1.0", "tsx": "2" },\n\t"name": "y",\n\t"old": 1\n}\n'
    const theirs = '{ "name": "x", "dependencies": { "kubewright": "0.2.0", "tsx": "3" }, "e2e": true }'
    expect(mergeJson(base, ours, theirs)).toEqual({
      text: '{\n\t"dependencies": {\n\t\t"mine": "9",\n\t\t"kubewright": "0.2.0",\n\t\t"tsx": "2"\n\t},\n\t"name": "y",\n\t"e2e": true\n}\n',
      kept: [{ path: 'dependencies.tsx', ours: '2', theirs: '3' }],
    })
    expect(mergeJson(base, 'no JSON', theirs)).toBeUndefined()
  })
})

describe('planUpgrade()', () => {
  const plan = (base: object, ours: object, next: object): Record<string, UpgradedFile['action']> => {
    const files = new Map(Object.entries(ours) as [string, string][])
    const planned = planUpgrade({
      base: new Map(Object.entries(base) as [string, string][]),
      next: new Map(Object.entries(next) as [string, string][]),
      read: (path) => files.get(path),
      versions: { old: '0.1.0', new: '0.2.0' },
    })
    return Object.fromEntries(planned.map(({ path, action }) => [path, action]))
  }

  test('plans nothing for files that the new version does not change', () => {
    expect(plan({ a: '1\n' }, { a: 'mine\n' }, { a: '1\n' })).toEqual({})
    expect(plan({ a: '1\n' }, { a: '2\n' }, { a: '2\n' })).toEqual({})
  })

  test('replaces unchanged files, merges changed ones, and keeps what the user deleted', () => {
    const base = { same: '1\n', gone: '1\n', both: 'a\nb\nc\n', removed: '1\n', kept: '1\n', clash: 'a\n' }
    const ours = { same: '1\n', both: 'A\nb\nc\n', removed: '1\n', kept: 'mine\n', clash: 'x\n', added: 'mine\n' }
    const next = { same: '2\n', gone: '2\n', both: 'a\nb\nC\n', clash: 'y\n', added: 'new\n', fresh: 'new\n' }
    expect(plan(base, ours, next)).toEqual({
      same: 'update',
      gone: 'keep',
      both: 'merge',
      clash: 'conflict',
      added: 'offer',
      fresh: 'create',
      removed: 'remove',
      kept: 'keep',
    })
  })
})
