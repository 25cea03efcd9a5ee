import type { KubeObject } from '@kubewright/api'
import type { HostGuards } from './host-guards.ts'
import type { Schedule } from './schedule.ts'
import type { Setup } from './setup.ts'
import { World, type WorldOptions } from './world.ts'

/** The observations of one schedule. */
export interface Run {
  readonly world: World
  /** All objects at rest. */
  readonly objects: readonly KubeObject[]
  /** Effective writes of the operator at rest, by object. */
  readonly writesAtRest: ReadonlyMap<string, number>
  /** Requests of the operator at rest. */
  readonly requestsAtRest: number
  /** The errors of reconciles at rest. */
  readonly errorsAtRest: readonly string[]
  readonly hash: string
}

// At rest, timers of up to 15 minutes have run.
const restMillis = 15 * 60_000
const observedMillis = 10 * 60_000

/** Runs one schedule to the end. */
export async function runSchedule(
  setup: Setup,
  schedule: Schedule,
  guards: HostGuards | undefined,
  options: WorldOptions = {},
): Promise<Run> {
  const world = await World.start(setup, schedule, options)
  guards?.enter({ clock: world.clock, random: world.random.fork('host'), rejected: (reason) => world.rejected(reason) })
  try {
    for (const operation of schedule.operations) {
      await world.advance(operation.after)
      await world.user.perform(operation)
    }
    // A fault may start others: a crash ends when the operator works again.
    while (!world.isOver && world.faults.untilEnd > 0) await world.advance(world.faults.untilEnd)
    await world.advance(restMillis)
    const requests = world.network.requests
    const since = world.now
    await world.advance(observedMillis)
    const writesAtRest = new Map<string, number>()
    for (const { time, id, isEffective } of world.log.writes) {
      if (time >= since && isEffective) writesAtRest.set(id, (writesAtRest.get(id) ?? 0) + 1)
    }
    await world.invariants.check('settled', () => world.objects())
    world.invariants.checkEventually()
    const objects = await world.objects()
    const errorsAtRest = failuresSince(world, since)
    const requestsAtRest = world.network.requests - requests
    return { world, objects, writesAtRest, requestsAtRest, errorsAtRest, hash: world.history.hash() }
  } finally {
    world.end()
    guards?.enter(undefined)
  }
}

function failuresSince(world: World, since: number): string[] {
  const found = new Set<string>()
  for (const process of world.processes.all) {
    if (!process.works) continue
    // The wall time of the process may be wrong.
    const start = process.clock.now() - (world.now - since)
    for (const runner of process.manager?.runners ?? []) {
      for (const { startedAt, result, key, error } of runner.recent()) {
        if (startedAt >= start && result === 'error') {
          found.add(`${runner.name} ${key}: ${error instanceof Error ? error.message : String(error)}`)
        }
      }
    }
  }
  return [...found]
}
