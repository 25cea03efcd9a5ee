import { KubewrightError, seededRandom, systemClock, toMillis } from '@kubewright/base'
import type { Operator } from '@kubewright/runtime'
import { Explorer } from './explore.ts'
import { classOf } from './fault.ts'
import type { OperatorFactory, SimulateOptions, SimulationFailure, SimulationReport } from './options.ts'
import { addRegression, readRegressions } from './regressions.ts'
import { warningsOf } from './sample-warnings.ts'
import { parseScheduleId, type Schedule, scheduleId } from './schedule.ts'
import { Setup } from './setup.ts'
import { shrink } from './shrink.ts'
import { type CheckedRun, Simulation } from './simulation.ts'
import { storyOf } from './story.ts'

/** The error of {@link simulate}: its message is the story of the failure. Its code is `KW_SIMULATION`. */
export class SimulationError extends KubewrightError {
  readonly report: SimulationReport

  constructor(report: SimulationReport, failure: SimulationFailure) {
    super('KW_SIMULATION', failure.story)
    this.report = report
  }
}

/**
 * Runs an operator through seeded schedules of operations and faults, on the embedded control plane and in virtual time,
 * and checks properties that every operator should have. Throws a {@link SimulationError} with the story of the first
 * failure, after shrinking. The same operator, options and seed give the same result.
 */
export async function simulate<World = undefined>(
  operator: Operator | OperatorFactory<World>,
  options: SimulateOptions<World> = {},
): Promise<SimulationReport> {
  const report = await explore(operator, options)
  if (report.failure !== undefined) throw new SimulationError(report, report.failure)
  return report
}

/** Like {@link simulate}, but returns a report with the failure instead of throwing it. */
export async function explore<World = undefined>(
  operator: Operator | OperatorFactory<World>,
  options: SimulateOptions<World> = {},
): Promise<SimulationReport> {
  const started = systemClock.monotonic()
  const until = options.for === undefined ? Number.POSITIVE_INFINITY : started + toMillis(options.for)
  const limit = options.schedules ?? (options.for === undefined ? 500 : Number.POSITIVE_INFINITY)
  const setup = await Setup.create(operator, options)
  const simulation = new Simulation(setup)
  try {
    return await search(simulation, options, until, limit)
  } finally {
    simulation[Symbol.dispose]()
  }
}

/** Runs schedules until one fails or the budget is used up. */
async function search(
  simulation: Simulation,
  options: Omit<SimulateOptions, 'world' | 'invariants' | 'processes'>,
  until: number,
  limit: number,
): Promise<SimulationReport> {
  const { seed = 1, shard = { index: 0, of: 1 } } = options
  const tally = new Tally()
  let warnings: readonly string[] = []
  const report = (failure?: SimulationFailure): SimulationReport => ({
    seed,
    ...tally.counts(),
    points: { ...explorer.points },
    runs: simulation.runs,
    hash: simulation.hash,
    nondeterminism: simulation.guards.reports,
    warnings,
    failure,
  })
  const random = seededRandom(shard.of === 1 ? seed : `${seed}, part ${shard.index}`)
  const explorer = new Explorer(simulation.setup, random, options.faults)
  let isFirst = true
  for (const schedule of planned(options, explorer, shard)) {
    if (tally.schedules >= limit || systemClock.monotonic() > until) break
    const run = await simulation.check(schedule)
    // A run that was ended early, such as one with a hot loop, is a failure and expensive.
    if (isFirst && options.replay === undefined && !isEndedEarly(run)) await checkDeterminism(simulation, run)
    // The first schedule of the first part, unless there are regressions, creates the samples.
    if (warnings.length === 0 && isFaultFree(simulation.setup, schedule)) warnings = warningsOf(simulation.setup, run)
    isFirst = false
    const isNew = tally.add(schedule, run)
    explorer.learn(schedule, run.world.faults.log, run.world.user.starts, isNew)
    options.onProgress?.({ schedules: tally.schedules, of: Number.isFinite(limit) ? limit : undefined })
    if (run.world.history.violations.length === 0) continue
    const found = options.replay === undefined ? await shrink(simulation, run) : run
    const failure = await describe(simulation, found, options)
    if (options.regressions !== undefined) addRegression(options.regressions, failure)
    return report(failure)
  }
  return report()
}

const isEndedEarly = ({ world }: CheckedRun): boolean =>
  world.history.violations.some(({ oracle }) => oracle === 'hot loop')

/** Whether a schedule only creates the samples, and all of them: they may refer to each other. */
const isFaultFree = ({ samples, subjects }: Setup, { operations, faults }: Schedule): boolean =>
  faults.length === 0 &&
  operations.every((operation) => operation.do === 'create' && operation.variant === 0) &&
  new Set(operations.map(({ subject }) => subjects[subject]?.sample)).size === samples.length

/** The schedules to run: a replay, or the regressions and then those of the explorer. */
function* planned(
  options: Pick<SimulateOptions, 'replay' | 'regressions'>,
  explorer: Explorer,
  shard: { readonly index: number; readonly of: number },
): Generator<Schedule, void, undefined> {
  if (options.replay !== undefined) {
    yield parseScheduleId(options.replay)
    return
  }
  if (options.regressions !== undefined && shard.index === 0)
    for (const id of readRegressions(options.regressions)) yield parseScheduleId(id)
  let number = 0
  for (const schedule of explorer.schedules()) {
    // Each part has its own scenarios, from which its other schedules follow.
    if (schedule.faults.length > 0 || number++ % shard.of === shard.index) yield schedule
  }
}

/** Runs the first schedule again: a different history means that the operator depends on something outside its control. */
async function checkDeterminism(simulation: Simulation, first: CheckedRun): Promise<void> {
  const second = await simulation.check(first.schedule)
  if (second.hash === first.hash) return
  const uses = simulation.guards.reports.filter((use) => use.includes('not simulated'))
  throw new KubewrightError(
    'KW_SIMULATION_NONDETERMINISTIC',
    [
      `Cannot simulate the operator: two runs of the same schedule differ, because it uses files, sockets, worker threads or state of the process; pass such state as 'world'`,
      ...uses,
    ].join('\n  '),
  )
}

async function describe(
  simulation: Simulation,
  failed: CheckedRun,
  { inspect: isInspected, record: isRecorded }: Pick<SimulateOptions, 'inspect' | 'record'>,
): Promise<SimulationFailure> {
  const detailed = await simulation.check(failed.schedule, { isDetailed: true, isInspected, isRecorded })
  const { world, schedule, hash } = detailed.world.history.violations.length > 0 ? detailed : failed
  const [violation] = world.history.violations
  if (violation === undefined) throw new TypeError('The failure cannot be repeated')
  const id = scheduleId(schedule)
  const { timeline } = world.history
  const story = storyOf(violation, timeline, schedule, `kubewright simulate --replay ${id}`)
  const { faults, operations } = schedule
  return {
    violation,
    id,
    story,
    timeline,
    faults: faults.length,
    operations: operations.length,
    hash,
    startedAt: simulation.setup.now,
    ...(isRecorded ? { states: world.states } : {}),
  }
}

/** Counts what a simulation has covered. */
class Tally {
  schedules = 0
  #actions = 0
  readonly #depths: [number, number, number, number] = [0, 0, 0, 0]
  #requests = 0
  readonly #faults: Record<string, number> = {}
  readonly #operations: Record<string, number> = {}
  readonly #states = new Set<string>()

  /** Returns whether the run reached new states. */
  add(schedule: Schedule, { world }: CheckedRun): boolean {
    this.schedules++
    if (this.schedules === 1) this.#actions = world.faults.actions
    this.#requests += world.network.requests
    this.#depths[Math.min(3, schedule.faults.length) as 0 | 1 | 2 | 3]++
    for (const fault of world.faults.fired) count(this.#faults, classOf(fault))
    for (const { do: verb } of schedule.operations) count(this.#operations, verb)
    const before = this.#states.size
    for (const state of world.log.states) this.#states.add(state)
    return this.#states.size > before
  }

  counts(): Pick<
    SimulationReport,
    'schedules' | 'depths' | 'faults' | 'operations' | 'states' | 'actions' | 'requests'
  > {
    return {
      schedules: this.schedules,
      depths: [...this.#depths],
      faults: this.#faults,
      operations: this.#operations,
      states: this.#states.size,
      actions: this.#actions,
      requests: this.#requests,
    }
  }
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}
