import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareNaturally } from './natural-order.ts'

// A character beyond ASCII at the end of both texts does not change their order, but selects the general comparison.
test('compareNaturally() orders texts of ASCII characters as it orders others', () => {
  const text = fc.string({ unit: fc.constantFrom(...'ab-A_.0019z~'), maxLength: 24 })
  fc.assert(
    fc.property(text, text, text, (head, x, y) => {
      const [a, b] = [`${head}${x}!`, `${head}${y}!`]
      expect(Math.sign(compareNaturally(a, b))).toBe(Math.sign(compareNaturally(`${a}é`, `${b}é`)))
    }),
    { numRuns: 3000 },
  )
})
