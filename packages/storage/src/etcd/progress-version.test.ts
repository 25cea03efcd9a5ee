import { expect, test } from 'vitest'
import { answersProgressInOrder } from './progress-version.ts'

test.each([
  ['3.3.27', false],
  ['3.4.23', false],
  ['3.4.31', true],
  ['3.5.12', false],
  ['3.5.13', true],
  ['3.5.0-rc.1', false],
  ['3.6.0', true],
  ['3.6.0-alpha.0', true],
  ['4.0.0', true],
  ['', false],
])('answersProgressInOrder() of version %s is %s', (version, expected) => {
  expect(answersProgressInOrder(version)).toBe(expected)
})
