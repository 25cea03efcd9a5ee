import { expect, test } from 'vitest'
import { goSecondsToMillis } from './go-seconds.ts'

test.each<[number | bigint, number]>([
  [0, 0],
  [30, 30_000],
  [-1, -1000],
  [9_000_000_000, 9_000_000_000_000],
  [9_223_372_037, -9_223_372_036_709],
  [9_223_372_036_854_775_807n, -1000],
  [-9_223_372_036_854_775_808n, 0],
])('goSecondsToMillis() wraps %s seconds like Go', (seconds, millis) => {
  expect(goSecondsToMillis(seconds)).toBe(millis)
})
