import { KubewrightError, seededRandom, systemClock, toMillis } from '@kubewright/base'
import type { Operator } from '@kubewright/runtime'
import { isPlainCreation, parseScheduleId, type Schedule, scheduleId } from './define/schedule.ts'
import { warningsOf } from './fairness/sample-warnings.ts'
import { builtinFaults } from './faults/builtin-faults.ts'
import type { SimulateOptions } from './options.ts'
import { builtinOracles } from './oracles/builtin-oracles.ts'
import { type Invariant, invariantOracle } from './oracles/invariants.ts'
import { FaultPoints } from './plan/fault-points.ts'
import { scenariosOf } from './plan/scenarios.ts'
import { ScheduleOrder } from './plan/schedule-order.ts'
import { addRegression, readRegressions } from './report/regressions.ts'
import { shrink } from './report/shrink.ts'
import type { SimulationFailure, SimulationReport } from './report/simulation-report.ts'
import { storyOf } from './report/story.ts'
import { Tally } from './report/tally.ts'
import { Simulation } from './simulation.ts'
import type { Run } from './world/run-schedule.ts'
import { type OperatorFactory, Setup } from './world/setup.ts'

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
  const setup = await Setup.create(operator, options, [...builtinFaults, ...(options.extraFaults ?? [])])
  const invariants = (options.invariants ?? []) as readonly Invariant[]
  const oracles = [...invariants.map(invariantOracle), ...builtinOracles, ...(options.extraOracles ?? [])]
  const simulation = new Simulation(setup, oracles)
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
    points: { ...points.counts },
    runs: simulation.runs,
    hash: simulation.hash,
    nondeterminism: simulation.guards.reports,
    warnings,
    failure,
  })
  const random = seededRandom(shard.of === 1 ? seed : `${seed}, part ${shard.index}`)
  const { setup } = simulation
  const { faults: kinds, samples, replicas } = setup
  const points = new FaultPoints(kinds, setup.faultFacts, samples, kinds.classes(options.faults))
  const scenarios = scenariosOf(samples, setup.operator)
  const order = new ScheduleOrder({ scenarios, samples, kinds, points, replicas, random })
  let isFirst = true
  for (const schedule of planned(options, order, shard)) {
    if (tally.schedules >= limit || systemClock.monotonic() > until) break
    const run = await simulation.check(schedule)
    // A run of a loop is a failure, and takes long to repeat.
    const isCostly = simulation.isCostly(run)
    if (isFirst && options.replay === undefined && !isCostly) await checkDeterminism(simulation, run)
    // The first schedule of the first part, unless there are regressions, creates the samples.
    if (warnings.length === 0 && createsSamples(setup, schedule)) warnings = warningsOf(setup, run)
    isFirst = false
    const isNew = tally.add(schedule, run)
    order.learn(schedule, run.world.faults.log, run.world.user.starts, isNew)
    options.onProgress?.({ schedules: tally.schedules, of: Number.isFinite(limit) ? limit : undefined })
    if (run.world.history.violations.length === 0) continue
    const found =
      options.replay === undefined
        ? await shrink(setup, run, { isCostly, check: (candidate) => simulation.check(candidate) })
        : run
    const failure = await describe(simulation, found, options)
    if (options.regressions !== undefined) addRegression(options.regressions, failure)
    return report(failure)
  }
  return report()
}

/** Whether a schedule only creates the samples, and all of them: they may refer to each other. */
const createsSamples = ({ samples: { subjects, list } }: Setup, schedule: Schedule): boolean =>
  isPlainCreation(schedule) &&
  new Set(schedule.operations.map(({ subject }) => subjects[subject]?.sample)).size === list.length

/** The schedules to run: a replay, or the regressions and then those of the search. */
function* planned(
  options: Pick<SimulateOptions, 'replay' | 'regressions'>,
  order: ScheduleOrder,
  shard: { readonly index: number; readonly of: number },
): Generator<Schedule, void, undefined> {
  if (options.replay !== undefined) {
    yield parseScheduleId(options.replay)
    return
  }
  if (options.regressions !== undefined && shard.index === 0)
    for (const id of readRegressions(options.regressions)) yield parseScheduleId(id)
  let number = 0
  for (const schedule of order.schedules()) {
    // Each part has its own scenarios, from which its other schedules follow.
    if (schedule.faults.length > 0 || number++ % shard.of === shard.index) yield schedule
  }
}

/** Runs the first schedule again: a different history means that the operator depends on something outside its control. */
async function checkDeterminism(simulation: Simulation, first: Run): Promise<void> {
  const second = await simulation.check(first.world.schedule)
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
  failed: Run,
  { inspect: isInspected, record: isRecorded }: Pick<SimulateOptions, 'inspect' | 'record'>,
): Promise<SimulationFailure> {
  const detailed = await simulation.check(failed.world.schedule, { isDetailed: true, isInspected, isRecorded })
  const { world, hash } = detailed.world.history.violations.length > 0 ? detailed : failed
  const { schedule } = world
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
    startedAt: simulation.setup.cluster.now,
    ...(isRecorded ? { states: world.states } : {}),
  }
}
