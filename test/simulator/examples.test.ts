// A short simulation of the examples and the built-in controllers. `test/simulator/main.ts` runs longer ones.
import { describe, expect, test } from 'vitest'
import { scheduleId } from '../../packages/simulator/src/schedule.ts'
import { builtins, examples } from './simulated-operators.ts'

describe('explore()', { timeout: 300_000 }, () => {
  test.each(Object.entries(examples))('finds no failure in the example %s', async (name, simulate) => {
    // The cron job runs a Job every virtual minute, which takes ten times as long as the other examples.
    const { failure } = await simulate({ schedules: name === 'cron-job' ? 2 : 4 })
    expect(failure?.story).toBeUndefined()
  })

  test.each(Object.entries(builtins))('finds no failure in the controller %s', async (_, simulate) => {
    const { failure } = await simulate({ schedules: 6 })
    expect(failure?.story).toBeUndefined()
  })

  test('accepts that an object keeps failing whose child belongs to another one, whenever its next attempt is', async () => {
    const create = (subject: number, variant: number) => ({ do: 'create' as const, subject, variant, after: 60_000 })
    const operations = [create(0, 0), create(2, 0), create(1, 1)]
    const replay = scheduleId({ seed: 1750648301, operations, faults: [], replicas: 1 })
    const { failure } = await examples['foo']!({ replay })
    expect(failure?.story).toBeUndefined()
  })
})
