import { describe, expect, test } from 'vitest'
import { Stretch, turnAfter } from './turn-after.ts'

describe('turnAfter()', () => {
  test('lets callbacks of the event loop run after work on many bytes only', async () => {
    expect(turnAfter(1000)).toBeUndefined()
    let ran = false
    setImmediate(() => (ran = true))
    await turnAfter(2_000_000)
    expect(ran).toBe(true)
  })
})

describe('Stretch', () => {
  test('ends before the step that would make it too long', () => {
    const stretch = new Stretch(100)
    const turns = [40, 60, 1, 500, 99, 1, 1].map((bytes) => stretch.before(bytes) !== undefined)
    expect(turns).toEqual([false, false, true, true, true, false, true])
  })
})
