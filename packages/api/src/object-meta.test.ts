import { describe, expect, test } from 'vitest'
import * as api from './index.ts'

describe('metadata helpers', () => {
  test('addFinalizer() and removeFinalizer() report whether the draft changed', () => {
    const draft: { metadata: api.MetaDraft } = { metadata: { name: 'a' } }
    expect([api.addFinalizer(draft, 'x'), api.addFinalizer(draft, 'x'), api.hasFinalizer(draft, 'x')]).toEqual([
      true,
      false,
      true,
    ])
    expect([api.removeFinalizer(draft, 'x'), api.removeFinalizer(draft, 'x')]).toEqual([true, false])
    expect(draft.metadata.finalizers).toEqual([])
  })

  test('labelOf() ignores inherited properties', () => {
    const draft: { metadata: api.MetaDraft } = { metadata: { name: 'a' } }
    expect([api.setLabel(draft, 'k', 'v'), api.setLabel(draft, 'k', 'v')]).toEqual([true, false])
    expect([api.labelOf(draft, 'k'), api.labelOf(draft, 'toString'), api.annotationOf(draft, 'k')]).toEqual([
      'v',
      undefined,
      undefined,
    ])
    api.setAnnotation(draft, 'n', '1')
    expect(draft.metadata).toEqual({ name: 'a', labels: { k: 'v' }, annotations: { n: '1' } })
    expect(api.generateName('a-', { labels: {} })).toEqual({ name: '', generateName: 'a-', labels: {} })
    expect(api.isDeleting({ metadata: { name: 'a', deletionTimestamp: 'x' } })).toBe(true)
  })

  test('keyOf() and parseKey() convert between objects and keys', () => {
    expect(api.keyOf({ metadata: { name: 'a', namespace: 'n' } })).toBe('n/a')
    expect(api.keyOf({ metadata: { name: 'a' } })).toBe('a')
    expect(api.parseKey('n/a')).toEqual({ name: 'a', namespace: 'n' })
    expect(api.toNameAndNamespace({ name: 'a', namespace: '' })).toEqual({ name: 'a' })
    expect(() => api.parseKey('a/b/c')).toThrow('unexpected key format: "a/b/c"')
    expect(api.sameObject({ metadata: { name: 'a', namespace: '' } }, { metadata: { name: 'a' } })).toBe(true)
    expect(api.sameObject({ metadata: { name: 'a', namespace: 'n' } }, { metadata: { name: 'a' } })).toBe(false)
  })
})
