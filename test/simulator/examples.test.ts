// A short simulation of the examples and the built-in controllers. `test/simulator/main.ts` runs longer ones.
import { describe, expect, test } from 'vitest'
import { scheduleId } from '../../packages/simulator/src/define/schedule.ts'
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

  const create = (subject: number, after = 60_000, variant = 0) => ({ do: 'create' as const, subject, variant, after })

  test('accepts that an object keeps failing whose child belongs to another one, whenever its next attempt is', async () => {
    const operations = [create(0), create(2), create(1, 60_000, 1)]
    const replay = scheduleId({ seed: 1750648301, operations, faults: [], replicas: 1 })
    const { failure } = await examples['foo']!({ replay })
    expect(failure?.story).toBeUndefined()
  })

  test('accepts that another object gets the child that both claim after its deletion', async () => {
    const operations = [create(0, 0), create(2, 0)]
    const faults = [{ kind: 'child-deleted' as const, at: 2, pick: 2, delay: 10 }]
    const { failure } = await examples['foo']!({
      replay: scheduleId({ seed: 1316559983, operations, faults, replicas: 1 }),
    })
    expect(failure?.story).toBeUndefined()
  })

  test('accepts that an object of another namespace gets a copy that both want after its deletion', async () => {
    const operations = [create(0, 0), create(1, 0)]
    const faults = [{ kind: 'child-deleted' as const, at: 3, pick: 3, delay: 10 }]
    const replay = scheduleId({ seed: 930127336, operations, faults, replicas: 1 })
    const { failure } = await examples['sec-synch']!({ replay })
    expect(failure?.story).toBeUndefined()
  })

  test('accepts that an object keeps a node port that another one requests', async () => {
    // The last operation removes the port from the spec. The server keeps it.
    const removal = { do: 'change' as const, subject: 0, variant: 6, after: 60_000, actions: 1 }
    const operations = [create(0), create(1), removal]
    const replay = scheduleId({ seed: 2059702692, operations, faults: [], replicas: 1 })
    const { failure } = await examples['app-service']!({ replay })
    expect(failure?.story).toBeUndefined()
  })

  test('finds no status of a deleted cluster in the new one of the same name', async () => {
    const operations = [create(0, 0), { do: 'delete' as const, subject: 0, variant: 0, after: 5200 }, create(0, 400)]
    const faults = [{ kind: 'slow' as const, at: 14, by: 8000 }]
    const replay = scheduleId({ seed: 582795787, operations, faults, replicas: 1 })
    const { failure } = await examples['etcd-cluster']!({ replay })
    expect(failure?.story).toBeUndefined()
  })

  test('lets pods run on a node that comes back after it could not take pods', async () => {
    const change = (variant: number, after: number) => ({ do: 'change' as const, subject: 0, variant, after })
    const operations = [create(0, 0), change(5, 60_000), change(0, 39_000)]
    const faults = [
      { kind: 'pods-pending' as const, at: 6, for: 60_000 },
      { kind: 'node-lost' as const, at: 10, delay: 20_000, for: 30_000 },
    ]
    const replay = scheduleId({ seed: 203252871, operations, faults, replicas: 1 })
    const { failure } = await builtins['replica-set']!({ replay })
    expect(failure?.story).toBeUndefined()
  })
})
