import type { KubeObject } from '@kubewright/api'
import type { ControllerRunner } from '@kubewright/runtime'
import type { EndedCluster } from '../define/observer.ts'
import type { Schedule } from '../define/schedule.ts'
import { stopInDebugger } from './debugger.ts'
import type { HostGuards } from './host-guards.ts'
import type { Setup } from './setup.ts'
import { World, type WorldOptions } from './world.ts'

/** The observations of one schedule. */
export interface Run {
  readonly world: World
  /** All objects at rest that the operator or another controller has written, or that the operator may change. */
  readonly objects: readonly KubeObject[]
  /** The objects whose deletion has begun and does not finish. */
  readonly undeleted: readonly KubeObject[]
  /** The objects at several times from that at which other runs end, if this one takes longer. */
  readonly earlier: readonly (readonly KubeObject[])[]
  /** Effective writes of the operator within ten minutes at rest, by object. */
  readonly writesAtRest: ReadonlyMap<string, number>
  /** When the operator wrote at rest, by kind: milliseconds since rest began. */
  readonly timesAtRest: ReadonlyMap<string, readonly number[]>
  /** Requests of the operator at rest. */
  readonly requestsAtRest: number
  /** The errors of reconciles at rest. */
  readonly errorsAtRest: readonly string[]
  /** The last reconciles that failed, with their errors: the next attempt may come after the observation. */
  readonly unresolved: readonly string[]
  /** Whether the operator has given up on the form of an object, with a TerminalError. */
  readonly isRefused: boolean
  /** The number of writes that the server refused, although the operator had time to correct them. */
  readonly refusalsAtRest: number
  /** The writes at rest that the server refused because another object has the requested address or port. */
  readonly contentionsAtRest: number
  /** The object that is reconciled all the time at rest, if there is one. */
  readonly busiestKey: string | undefined
  /** The problems of controllers at rest, such as a reconcile that hangs. */
  readonly problemsAtRest: readonly string[]
  readonly hash: string
}

// At rest, timers of up to 15 minutes have run.
const restMillis = 15 * 60_000
const observedMillis = 10 * 60_000
const longObservedMillis = 40 * 60_000
// Shorter than the phases of a timetable, whose states must all be seen.
const stateMillis = 5 * 60_000
const restSlice = 60_000
const minute = 60_000
const endPhase = 30_000
// A write that fails again later, with growing back-off, fails until the end.
const correctionMillis = 2 * 60_000
// More often than once a second.
const busyReconciles = 60
const busyMillis = 50_000

export interface RunScheduleOptions extends WorldOptions {
  /** Observes 40 minutes at rest in place of 10. */
  readonly isLong?: boolean | undefined
}

/** The subjects, neighbors and inputs that exist at the end of a run according to the user, with their forms, in order. */
export const desiredOf = ({ world }: Run): readonly (readonly [key: number, form: number])[] =>
  [...world.user.desired].sort(([a], [b]) => a - b)

/** Runs one schedule to the end. */
export async function runSchedule(
  setup: Setup,
  schedule: Schedule,
  guards: HostGuards | undefined,
  options: RunScheduleOptions = {},
): Promise<Run> {
  // The operator's code is guarded from its first line on.
  const guard = (world: World): void =>
    guards?.enter({
      clock: world.clock,
      wallTime: () => world.processes.wallTime(),
      random: world.random.fork('host'),
      rejected: (reason) => world.rejected(reason),
    })
  const world = await World.start(setup, schedule, options, guard).catch((error: unknown) => {
    guards?.enter(undefined)
    throw error
  })
  try {
    for (const [index, operation] of schedule.operations.entries()) {
      if (operation.actions === undefined) await world.advance(operation.after)
      else await world.advanceActions(operation.actions, operation.after)
      const isLast = index === schedule.operations.length - 1
      if (world.isInspected && isLast && schedule.faults.length === 0) stopInDebugger('The last operation follows')
      await world.user.perform(operation)
    }
    const { end, since, requests, states: earlier } = await rest(world, options.isLong ?? false)
    const writesAtRest = new Map<string, number>()
    const timesAtRest = new Map<string, number[]>()
    for (const { time, id, isEffective } of world.log.writes) {
      if (time < since || !isEffective) continue
      // The same time in every run, so that the numbers can be compared.
      if (time < since + observedMillis) writesAtRest.set(id, (writesAtRest.get(id) ?? 0) + 1)
      const kind = id.slice(0, id.indexOf(' '))
      timesAtRest.set(kind, [...(timesAtRest.get(kind) ?? []), time - since])
    }
    const objects = await world.changeableObjects()
    const countAtRest = (times: readonly number[]): number =>
      times.filter((time) => time > end + correctionMillis).length
    const run: Run = {
      world,
      objects,
      undeleted: objects.filter(({ kind, metadata }) => metadata.deletionTimestamp !== undefined && kind !== 'Pod'),
      earlier,
      writesAtRest,
      timesAtRest,
      requestsAtRest: world.network.requests - requests,
      errorsAtRest: failuresSince(world, since),
      unresolved: lastErrors(world, 'error'),
      isRefused: lastErrors(world, 'terminal_error').length > 0,
      refusalsAtRest: countAtRest(world.log.refusals),
      contentionsAtRest: countAtRest(world.log.contentions),
      busiestKey: busiestOf(world),
      problemsAtRest: runnersOf(world).flatMap(({ runner }) => runner.problems()),
      // Before the oracles that write: what they check depends on earlier runs.
      hash: world.history.hash(),
    }
    await endObservation(world, objects)
    return run
  } finally {
    world.end()
    guards?.enter(undefined)
  }
}

async function endObservation(world: World, objects: readonly KubeObject[]): Promise<void> {
  const { user } = world
  let written: Promise<readonly KubeObject[]> | undefined
  const cluster: EndedCluster = {
    objects,
    written: () => (written ??= world.objects()),
    desired: user.desired,
    request: (method, path, body) => world.drive(user.request(method, path, body)),
  }
  for (const observer of world.observers) await observer.ended?.(cluster)
}

/** The times of the period at rest. */
interface Rest {
  /** When the last fault had ended. */
  readonly end: number
  /** When the observation began. */
  readonly since: number
  /** The number of requests before the observation. */
  readonly requests: number
  /** The objects from the tenth minute of a longer observation on, every few minutes. */
  readonly states: readonly (readonly KubeObject[])[]
}

/**
 * Waits until the faults have ended and the cluster has rested. A fault in that time begins it again: operators that work on
 * a schedule act at rest too. The number of faults is finite, so that this ends.
 */
async function rest(world: World, isLong: boolean): Promise<Rest> {
  for (;;) {
    const end = await waitForRest(world)
    const { injections } = world.faults
    const { requests } = world.network
    const since = world.now
    await world.advance(observedMillis)
    await world.advance(untilPhase(world.clock.now()))
    const states: (readonly KubeObject[])[] = []
    for (let left = isLong ? longObservedMillis - observedMillis : 0; left > 0; left -= stateMillis) {
      states.push(await world.changeableObjects())
      await world.advance(stateMillis)
    }
    if (world.isOver || world.faults.injections === injections) return { end, since, requests, states }
  }
}

/** The time until the second of a minute at which all runs end: the state of an operator with a timetable depends on it. */
function untilPhase(now: number): number {
  return (minute + endPhase - (now % minute)) % minute
}

/** Resolves to the time at which the last fault had ended, when enough time has passed since then. */
async function waitForRest(world: World): Promise<number> {
  for (;;) {
    // A fault may start others: a crash ends when the operator works again.
    while (!world.isOver && world.faults.untilEnd > 0) await world.advance(world.faults.untilEnd)
    const { injections } = world.faults
    const end = world.now
    for (let left = restMillis; left > 0 && world.faults.injections === injections; left -= restSlice) {
      await world.advance(restSlice)
    }
    if (world.isOver || world.faults.injections === injections) return end
  }
}

/** The controllers of the processes that work, and the wall time of their process, which may be wrong. */
const runnersOf = (world: World): { readonly runner: ControllerRunner; readonly now: number }[] =>
  world.processes.all
    .filter(({ works }) => works)
    .flatMap(({ manager, clock }) => (manager?.runners ?? []).map((runner) => ({ runner, now: clock.now() })))

function failuresSince(world: World, since: number): string[] {
  const found = new Set<string>()
  for (const { runner, now } of runnersOf(world)) {
    for (const { startedAt, result, key, error } of runner.recent()) {
      if (startedAt >= now - (world.now - since) && result === 'error') found.add(failureText(runner, key, error))
    }
  }
  return [...found]
}

const failureText = ({ name }: ControllerRunner, key: unknown, error: unknown): string =>
  `${name} ${key}: ${error instanceof Error ? error.message : String(error)}`

/** The errors of the objects whose last reconcile had this result. */
const lastErrors = (world: World, wanted: 'error' | 'terminal_error'): string[] =>
  runnersOf(world).flatMap(({ runner }) => {
    const last = new Map(
      runner
        .recent()
        .toReversed()
        .map((run) => [run.key, run]),
    )
    const failed = [...last].filter(([, { result }]) => result === wanted)
    return failed.map(([key, { error }]) => failureText(runner, key, error))
  })

function busiestOf(world: World): string | undefined {
  for (const { runner, now } of runnersOf(world)) {
    const counts = new Map<string, number>()
    for (const { startedAt, key } of runner.recent()) {
      if (startedAt >= now - busyMillis) counts.set(key, (counts.get(key) ?? 0) + 1)
    }
    for (const [key, count] of counts) if (count >= busyReconciles) return `${runner.name} ${key}`
  }
  return undefined
}
