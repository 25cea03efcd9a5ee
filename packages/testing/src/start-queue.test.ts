import { describe, expect, test } from 'vitest'
import { startInTurn } from './start-queue.ts'

describe('startInTurn', () => {
  test('starts two at once and the others in order', async () => {
    const begun: number[] = []
    const ends: (() => void)[] = []
    const all = [0, 1, 2, 3].map((number) =>
      startInTurn(async () => {
        begun.push(number)
        await new Promise<void>((resolve) => (ends[number] = resolve))
        return number
      }),
    )
    expect(begun).toEqual([0, 1])
    ends[1]!()
    await all[1]
    await Promise.resolve()
    expect(begun).toEqual([0, 1, 2])
    ends[0]!()
    ends[2]!()
    await all[0]
    await all[2]
    ends[3]!()
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3])
  })

  test('goes on after a start that failed', async () => {
    const failing = Array.from({ length: 5 }, () => startInTurn(() => Promise.reject(new Error('no'))))
    await Promise.allSettled(failing)
    expect(await startInTurn(async () => 'started')).toBe('started')
  })
})
