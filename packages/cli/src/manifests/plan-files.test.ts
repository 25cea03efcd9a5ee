import { describe, expect, test } from 'vitest'
import { derived, editable, editableTemplate, marked, markedAtEnd, provenanceOf } from './generated-file.ts'
import { isChange, planFiles } from './plan-files.ts'

const actions = (...args: Parameters<typeof planFiles>): Record<string, string> =>
  Object.fromEntries(planFiles(...args).map(({ path, action }) => [path, action]))

describe('provenanceOf()', () => {
  test('detects changed files and files that were not generated', () => {
    const { text } = editable('a: 1\n')
    expect(provenanceOf(text)).toEqual({ isUntouched: true, madeAs: expect.stringMatching(/^[0-9a-f]{16}$/) })
    expect(provenanceOf(`${text}b: 2\n`)).toMatchObject({ isUntouched: false, madeAs: provenanceOf(text).madeAs })
    expect(provenanceOf('a: 1\n')).toEqual({ isUntouched: false, madeAs: undefined })
  })
})

describe('planFiles()', () => {
  const made = editable('a: 1\n')
  const now = editable('a: 2\n')
  const plan = (before: string, force = false) =>
    actions({ files: new Map([['f', now]]), present: new Map([['f', before]]), force })['f']

  test('creates missing files and keeps equal ones', () => {
    const files = new Map([
      ['new', now],
      ['same', now],
    ])
    expect(actions({ files, present: new Map([['same', now.text]]) })).toEqual({ new: 'create', same: 'unchanged' })
  })

  test('overwrites editable files only while they are unchanged', () => {
    expect(plan(made.text)).toBe('update')
    expect(plan(`${made.text}# mine\n`)).toBe('outdated')
    expect(plan(`${now.text}# mine\n`)).toBe('kept')
    expect(plan('mine: 1\n')).toBe('kept')
    expect(plan('mine: 1\n', true)).toBe('replace')
  })

  test('always overwrites derived files, and writes others once', () => {
    const files = new Map([
      ['derived', derived('a: 2\n')],
      ['once', { text: 'a: 2\n', care: 'once' as const }],
    ])
    const present = new Map([
      ['derived', 'a: 1\n'],
      ['once', 'a: 1\n'],
    ])
    expect(actions({ files, present, force: true })).toEqual({ derived: 'update', once: 'kept' })
    expect(planFiles({ files, present }).flatMap(({ path, isOnce }) => (isOnce ? [path] : []))).toEqual(['once'])
  })

  test('reports derived files that the user changed as replaced', () => {
    const files = new Map([['f', markedAtEnd('a: 2\n')]])
    const before = (text: string) => actions({ files, present: new Map([['f', text]]) })['f']
    expect(before(markedAtEnd('a: 1\n').text)).toBe('update')
    expect(before(markedAtEnd('a: 1\n').text.replace('1', '3'))).toBe('replace')
    expect(before(`${marked('a: 1\n').text}b: 1\n`)).toBe('replace')
  })

  test('merges changes of the user with new content if the text that was generated last is known', () => {
    const old = 'a: 1\nb: 1\nc: 1\nd: 1\ne: 1\n'
    const next = editable(old.replace('e: 1', 'e: 2'), old)
    const mine = editable(old).text.replace('b: 1', 'b: 9')
    const [merged] = planFiles({ files: new Map([['f', next]]), present: new Map([['f', mine]]) })
    expect(merged).toMatchObject({ action: 'merge', after: next.text.replace('b: 1', 'b: 9') })
    const conflict = editable(old).text.replace('e: 1', 'e: 9')
    const present = new Map([['f', conflict]])
    expect(actions({ files: new Map([['f', next]]), present })).toEqual({ f: 'outdated' })
    // The next run finds the merged file up to date.
    expect(actions({ files: new Map([['f', next]]), present: new Map([['f', merged!.after!]]) })).toEqual({ f: 'kept' })
  })

  test('removes files that it no longer generates, and no others', () => {
    const crd = 'metadata:\n  annotations:\n    kubewright.dev/generated: "true"\n'
    const present = new Map([
      ['config/old.yaml', made.text],
      ['config/changed.yaml', `${made.text}# mine\n`],
      ['config/foreign.yaml', 'a: 1\n'],
      ['config/crd/bases/a_olds.yaml', crd],
      ['config/crd/bases/b_foreigns.yaml', 'a: 1\n'],
      ['config/samples/mine.yaml', crd],
      ['dist/chart/templates/old.yaml', editableTemplate('a: 1\n').text],
      ['dist/chart/templates/mine.yaml', 'a: 1\n'],
    ])
    const plans = planFiles({ files: new Map(), present })
    expect(Object.fromEntries(plans.map(({ path, action }) => [path, action]))).toEqual({
      'config/changed.yaml': 'stale',
      'config/crd/bases/a_olds.yaml': 'remove',
      'config/old.yaml': 'remove',
      'dist/chart/templates/old.yaml': 'remove',
    })
    expect(plans.filter(isChange)).toHaveLength(3)
  })
})
