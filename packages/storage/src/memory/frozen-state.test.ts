import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Entry } from '../store/store.ts'
import { Mvcc } from './mvcc.ts'

type Step = { readonly write: string; readonly isDelete: boolean } | { readonly read: number }

const key = fc.integer({ min: 0, max: 30 }).map((n) => `/k${n}`)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ write: key, isDelete: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ read: fc.integer({ min: 1, max: 5 }) }) },
)

function publish(mvcc: Mvcc, { write, isDelete }: Exclude<Step, { read: number }>): void {
  if (isDelete && !mvcc.newest(write)) return
  mvcc.publish({ key: write, value: isDelete ? undefined : Buffer.from(String(mvcc.revision)) })
}

test('Mvcc.freeze() reads the entries of its revision, however many writes come between its pieces', () => {
  fc.assert(
    fc.property(fc.array(step), fc.array(step), (before, after) => {
      const mvcc = new Mvcc()
      for (const one of before) if ('write' in one) publish(mvcc, one)
      const expected = [...mvcc.entries()]
      using frozen = mvcc.freeze()
      const found: Entry[] = []
      for (const one of after) {
        if ('write' in one) publish(mvcc, one)
        else found.push(...frozen.next(one.read, 1000))
      }
      for (let piece = frozen.next(3, 1000); piece.length > 0; piece = frozen.next(3, 1000)) found.push(...piece)
      expect(found).toEqual(expected)
    }),
  )
})
