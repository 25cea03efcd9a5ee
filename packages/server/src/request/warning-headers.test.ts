import { expect, test } from 'vitest'
import { warningHeaders } from './warning-headers.ts'

test('warningHeaders() quotes texts, encodes them as UTF-8 and drops those with control characters', () => {
  expect(warningHeaders(['a "b" \\c', 'two\nlines', '', 'ü'])).toEqual(['299 - "a \\"b\\" \\\\c"', '299 - "Ã¼"'])
})

test('warningHeaders() truncates all texts when their total is too long and drops those beyond the limit', () => {
  const long = 'x'.repeat(4096)
  expect(warningHeaders([long])).toEqual([`299 - "${long}"`])
  expect(warningHeaders([long, 'y'])).toEqual([`299 - "${'x'.repeat(256)}"`, '299 - "y"'])
  const many = Array.from({ length: 30 }, (_, i) => `${i} ${'z'.repeat(300)}`)
  expect(warningHeaders(many)).toHaveLength(16)
})
