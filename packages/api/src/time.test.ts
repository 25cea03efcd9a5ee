import { expect, test } from 'vitest'
import * as api from './index.ts'

test('toTime(), toMicroTime() and fromTime() convert both ways', () => {
  expect(api.toTime(1_700_000_000_999)).toBe('2023-11-14T22:13:20Z')
  expect(api.toMicroTime(1_700_000_000_999)).toBe('2023-11-14T22:13:20.999000Z')
  expect(api.fromTime('2023-11-14T22:13:20.5Z')).toBe(1_700_000_000_500)
})
