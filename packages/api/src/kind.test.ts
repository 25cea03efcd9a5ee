import { deepFreeze } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { createKind } from './kind.ts'

interface BoxDraft {
  apiVersion: string
  kind: string
  metadata: { name: string; labels?: Record<string, string> }
  spec: { sizes?: { width: number }[]; colour?: string }
}
const Box = createKind<unknown, BoxDraft>({
  group: 'x.io',
  version: 'v1',
  kind: 'Box',
  plural: 'boxes',
  schema: () => ({}),
})

describe('Kind()', () => {
  test('copies frozen parts, so that changing the draft does not change the object that was read', () => {
    const read = deepFreeze({ sizes: [{ width: 1 }], labels: { a: 'b' } })
    const draft = Box({ metadata: { name: 'one', labels: read.labels }, spec: { sizes: read.sizes } })
    draft.spec.sizes![0]!.width = 2
    draft.spec.sizes!.push({ width: 3 })
    draft.metadata.labels!['a'] = 'c'
    expect(draft).toEqual({
      apiVersion: 'x.io/v1',
      kind: 'Box',
      metadata: { name: 'one', labels: { a: 'c' } },
      spec: { sizes: [{ width: 2 }, { width: 3 }] },
    })
    expect(read).toEqual({ sizes: [{ width: 1 }], labels: { a: 'b' } })
  })

  test('omits undefined fields at any depth', () => {
    const colour: string | undefined = undefined
    const draft = Box({ metadata: { name: 'one', labels: undefined }, spec: { colour } })
    expect(Object.keys(draft.metadata)).toEqual(['name'])
    expect(Object.keys(draft.spec)).toEqual([])
  })

  test('keeps parts that are not frozen without copying', () => {
    const spec = { sizes: [{ width: 1 }] }
    expect(Box({ metadata: { name: 'one' }, spec }).spec).toBe(spec)
  })
})
