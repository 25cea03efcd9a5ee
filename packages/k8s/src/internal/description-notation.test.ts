import { describe, expect, test } from 'vitest'
import { parseDescriptions, sharedClass, textsOf, writeDescriptions } from './description-notation.ts'

describe('parseDescriptions()', () => {
  test('reads what writeDescriptions() writes', () => {
    const texts = {
      Widget: { '': 'A part.', size: 'Size in metres: 1 by default.', 'x-kubernetes-map-type': 'How maps merge.' },
      Gadget: { color: 'Color of the gadget.' },
    }
    expect(parseDescriptions(writeDescriptions(texts))).toEqual(texts)
  })
})

describe('sharedClass()', () => {
  test('recognizes kinds, lists and conditions by their fields', () => {
    const typeMeta = ['apiVersion', 'kind', 'metadata']
    expect(sharedClass('Pod', new Set([...typeMeta, 'spec']))).toBe('kinds')
    expect(sharedClass('PodList', new Set([...typeMeta, 'items']))).toBe('lists')
    expect(sharedClass('PodCondition', new Set(['type', 'status']))).toBe('conditions')
    expect(sharedClass('ObjectReference', new Set(['apiVersion', 'kind', 'name']))).toBeUndefined()
  })
})

describe('textsOf()', () => {
  test('prefers own descriptions and completes them with shared ones of existing fields', () => {
    const shared = { lists: { '': 'List of {kind} objects.', items: 'The objects.', other: 'Nothing.' } }
    const fields = new Set(['items', 'metadata'])
    expect(textsOf({ PodList: { metadata: 'Own.' } }, shared, 'PodList', fields)).toEqual({
      '': 'List of Pod objects.',
      items: 'The objects.',
      metadata: 'Own.',
    })
  })
})
