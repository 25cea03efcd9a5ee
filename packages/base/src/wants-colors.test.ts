import { describe, expect, test } from 'vitest'
import { wantsColors } from './wants-colors.ts'

describe('wantsColors()', () => {
  test.each([
    [true, {}, true],
    [false, {}, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
    [false, { FORCE_COLOR: '1' }, true],
    [true, { FORCE_COLOR: '0' }, false],
    [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  ])('isTTY %s and environment %o: %s', (isTTY, env, wanted) => expect(wantsColors({ isTTY }, env)).toBe(wanted))
})
