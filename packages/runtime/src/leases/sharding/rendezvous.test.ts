import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hash, Rendezvous } from './rendezvous.ts'

const members = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 8 })
const key = fc.string()

describe('Rendezvous', () => {
  test('assigns each key to a member, independent of the order of the members', () => {
    fc.assert(
      fc.property(members, key, (names, text) => {
        const owner = new Rendezvous(names).owner(text)
        expect(names).toContain(owner)
        expect(new Rendezvous([...names].reverse()).owner(text)).toBe(owner)
      }),
    )
  })

  test('moves only the keys that a new member gains, or that a leaving member had', () => {
    fc.assert(
      fc.property(members, fc.string({ minLength: 1 }), key, (names, other, text) => {
        fc.pre(!names.includes(other))
        const before = new Rendezvous(names).owner(text)
        const after = new Rendezvous([...names, other]).owner(text)
        expect([before, other]).toContain(after)
      }),
    )
  })

  test('distributes keys evenly', () => {
    const set = new Rendezvous(['replica-0', 'replica-1', 'replica-2', 'replica-3'])
    const counts = new Map<string | undefined, number>()
    for (let index = 0; index < 10_000; index++) {
      const owner = set.owner(`namespace-${index % 7}/object-${index}`)
      counts.set(owner, (counts.get(owner) ?? 0) + 1)
    }
    for (const count of counts.values()) expect(Math.abs(count - 2500)).toBeLessThan(250)
  })

  test('has no owner for any key when it is empty', () => {
    expect(new Rendezvous([]).owner('x')).toBeUndefined()
  })
})

test('hash() never changes, since replicas of different versions must agree', () => {
  expect(['', 'default/web', 'größe'].map(hash)).toMatchInlineSnapshot(`
    [
      2872998923,
      1611262052,
      2538389087,
    ]
  `)
})
