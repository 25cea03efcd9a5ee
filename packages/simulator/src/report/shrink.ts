import type { Fault } from '../define/define-fault.ts'
import type { Operation, Schedule } from '../define/schedule.ts'
import type { Run } from '../world/run-schedule.ts'
import type { Setup } from '../world/setup.ts'

// Each candidate is one run.
const maxRuns = 80
// A loop has many requests in each run, and is easy to understand.
const maxRequests = 4000
const maxRequestsIfCostly = 1000

/** Finds a smaller schedule with a violation of the same oracle. `check` runs one. */
export async function shrink(
  setup: Setup,
  failed: Run,
  { isCostly, check }: { readonly isCostly: boolean; readonly check: (schedule: Schedule) => Promise<Run> },
): Promise<Run> {
  const [violation] = failed.world.history.violations
  if (violation === undefined) return failed
  let best = failed
  let left = maxRuns
  let requests = 0
  const most = isCostly ? maxRequestsIfCostly : maxRequests
  for (let isSmaller = true; isSmaller && left > 0; ) {
    isSmaller = false
    for (const candidate of candidatesOf(setup, best.world.schedule)) {
      if (left-- <= 0 || requests > most) return best
      const run = await check(candidate)
      requests += run.world.network.requests
      // A failing reference is a failure without faults, which is smaller still.
      if (run.world.history.violations[0]?.oracle !== violation.oracle) continue
      if (sizeOf(setup, run.world.schedule) >= sizeOf(setup, best.world.schedule)) continue
      best = run
      isSmaller = true
      break
    }
  }
  return best
}

/** Smaller schedules have fewer faults, then fewer operations, then simpler ones. */
const sizeOf = (setup: Setup, { faults, operations, replicas }: Schedule): number =>
  faults.length * 1_000_000 +
  replicas * 500_000 +
  operations.length * 10_000 +
  operations.reduce(
    (sum, one) =>
      sum + (one.variant > 0 ? 10 : 0) + partsOf(setup, one).length + (one.after > 0 && one.after < 60_000 ? 1 : 0),
    0,
  ) +
  faults.reduce((sum, fault) => sum + (simplerOf(setup, fault) === undefined ? 0 : 2), 0)

/** The forms that the form of an operation combines. */
function partsOf(setup: Setup, { do: verb, subject: index, variant }: Operation): readonly number[] {
  const subject = verb === 'create' || verb === 'change' ? setup.samples.subjects[index] : undefined
  return subject === undefined ? [] : (setup.samples.formOf(subject, variant).parts ?? [])
}

const simplerOf = ({ faults }: Setup, fault: Fault): Fault | undefined => faults.of(fault).simpler?.(fault)

function* candidatesOf(setup: Setup, schedule: Schedule): Generator<Schedule, void, undefined> {
  const { faults, operations } = schedule
  yield* simplest(schedule)
  if (faults.length > 1) for (const fault of faults) yield { ...schedule, faults: [fault] }
  for (const [index] of faults.entries()) yield { ...schedule, faults: faults.filter((_, other) => other !== index) }
  if (schedule.replicas > 1) yield { ...schedule, replicas: 1 }
  for (let index = operations.length - 1; index >= 0; index--) {
    yield { ...schedule, operations: operations.filter((_, other) => other !== index) }
  }
  const replaced = (index: number, change: Partial<Operation>): Schedule => ({
    ...schedule,
    operations: operations.map((one, other) => (other === index ? { ...one, ...change } : one)),
  })
  for (const [index, operation] of operations.entries()) {
    const { variant, after, do: verb } = operation
    // One of the changed fields usually suffices.
    for (const part of partsOf(setup, operation)) yield replaced(index, { variant: part })
    if (variant > 0 && verb === 'create') yield replaced(index, { variant: 0 })
    if (after > 0 && after < 60_000) yield replaced(index, { after: 60_000 })
  }
  for (const [index, fault] of faults.entries()) {
    const simpler = simplerOf(setup, fault)
    if (simpler !== undefined) {
      yield { ...schedule, faults: faults.map((one, other) => (other === index ? simpler : one)) }
    }
  }
}

/** One fault and the first operation. Without the other operations, the fault belongs to an earlier action. */
function* simplest(schedule: Schedule): Generator<Schedule, void, undefined> {
  const [first, ...more] = schedule.operations
  const [fault, ...others] = schedule.faults
  if (first === undefined || fault === undefined || others.length > 0 || more.length === 0) return
  for (let at = 1; at <= Math.min(fault.at, 6); at++) {
    yield { ...schedule, operations: [{ ...first, variant: 0 }], faults: [{ ...fault, at }] }
  }
}
