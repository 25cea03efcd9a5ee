import { createHash } from 'node:crypto'
import { objectId } from './define/object-id.ts'
import { calm, type Operation, type Schedule } from './define/schedule.ts'
import type { Violation } from './define/violation.ts'
import { comparisonOf, hasNoExpectedEnd } from './fairness/fair-differences.ts'
import { type ReferenceState, References } from './fairness/references.ts'
import type { OracleDefinition, ReportViolation } from './oracles/define-oracle.ts'
import { HostGuards } from './world/host-guards.ts'
import { desiredOf, type Run, type RunScheduleOptions, runSchedule } from './world/run-schedule.ts'
import type { Setup } from './world/setup.ts'

/** Runs schedules and checks them. */
export class Simulation implements Disposable {
  readonly setup: Setup
  readonly guards: HostGuards = new HostGuards()
  readonly #oracles: readonly OracleDefinition[]
  readonly #references: References
  readonly #hash = createHash('sha256')
  runs = 0

  constructor(setup: Setup, oracles: readonly OracleDefinition[]) {
    this.setup = setup
    this.#oracles = oracles
    this.#references = new References({
      setup,
      run: (schedule, options) => this.#run(schedule, options),
      hasViolations: async (run) => {
        await this.#checkAlone(run)
        return isViolated(run)
      },
    })
  }

  get hash(): string {
    return this.#hash.copy().digest('hex')
  }

  /**
   * Runs one schedule and checks every oracle: first those that need the run, then those that compare it with its reference, then those
   * that run other schedules. Resolves to the run, or to the run of its reference if that fails.
   */
  async check(
    schedule: Schedule,
    options: Pick<RunScheduleOptions, 'isDetailed' | 'isInspected' | 'isRecorded'> = {},
  ): Promise<Run> {
    const run = await this.#run(schedule, options)
    const isWaiting = await this.#checkAlone(run)
    // A subject that waits for the deletion of another object exists in no reference.
    if (isViolated(run) || isWaiting) return run
    const state = await this.#references.of(run)
    if ('failed' in state) return state.failed
    for (const { oracle, message, details } of await this.#compare(run, state)) {
      run.world.history.violate(oracle, message, details)
    }
    await this.#checkWithReruns(run, state)
    return run
  }

  /** Checks the oracles that need nothing but the run. Resolves to whether a subject waits for the deletion of another object. */
  async #checkAlone(run: Run): Promise<boolean> {
    const { undeleted, isWaiting } = await this.#waitForDeletions(run)
    for (const oracle of this.#oracles) {
      if (oracle.needs === 'run') oracle.check?.({ ...run, undeleted }, reportTo(run, oracle))
    }
    return isWaiting
  }

  /** An object may wait until others no longer use it: then it goes when the user deletes those too. */
  async #waitForDeletions(run: Run): Promise<Pick<Run, 'undeleted'> & { readonly isWaiting: boolean }> {
    const { undeleted } = run
    const { samples } = this.setup
    const { schedule } = run.world
    const left = desiredOf(run).flatMap(([index]) => samples.subjects[index] ?? [])
    const canWait = left.some(({ kind }) => undeleted.every((object) => object.kind !== kind.kind))
    if (undeleted.length === 0 || !canWait) return { undeleted, isWaiting: false }
    const deletions = left.map((subject): Operation => {
      return { do: 'delete', subject: samples.subjects.indexOf(subject), variant: 0, after: calm }
    })
    const other = await this.#run({ ...schedule, operations: [...schedule.operations, ...deletions] })
    const stuck = new Set(other.undeleted.map(objectId))
    const waiting = undeleted.filter((object) => !stuck.has(objectId(object)))
    return {
      undeleted: undeleted.filter((object) => !waiting.includes(object)),
      isWaiting: waiting.some(({ kind }) => samples.isSubjectKind(kind)),
    }
  }

  /** The first violations that a comparison with the reference finds. They count only against a reference of two runs. */
  async #compare(run: Run, state: ReferenceState): Promise<readonly Violation[]> {
    const { reference } = state
    if (reference === undefined || this.setup.faults.haveOwnEnd(run.world.schedule.faults)) return []
    const comparison = comparisonOf(this.setup, run, reference)
    if (hasNoExpectedEnd(comparison)) return []
    for (const oracle of this.#oracles) {
      if (oracle.needs !== 'reference') continue
      const found: Violation[] = []
      oracle.check(comparison, (message, details = []) => {
        found.push({ oracle: oracle.name, message, details })
      })
      if (found.length > 0) return (await this.#references.improve(state, run)) ? this.#compare(run, state) : found
    }
    return []
  }

  /** Checks the oracles that run other schedules, until one of them finds a violation. */
  async #checkWithReruns(run: Run, { reference, first: referenceSchedule }: ReferenceState): Promise<void> {
    const rerun = (schedule: Schedule, options?: { readonly isLong?: boolean | undefined }): Promise<Run> =>
      this.#run(schedule, options)
    for (const oracle of this.#oracles) {
      if (isViolated(run)) return
      if (oracle.needs === 'rerun') {
        await oracle.check({ run, reference, referenceSchedule, rerun }, reportTo(run, oracle))
      }
    }
  }

  /** Whether an oracle whose violations are costly has found one. */
  isCostly({ world }: Run): boolean {
    return world.history.violations.some((violation) =>
      this.#oracles.some(({ name, isCostly }) => isCostly && name === violation.oracle),
    )
  }

  async #run(schedule: Schedule, options: RunScheduleOptions = {}): Promise<Run> {
    const run = await runSchedule(this.setup, schedule, this.guards, {
      ...options,
      observe: (observed, history) =>
        this.#oracles.flatMap((oracle) => {
          const report: ReportViolation = (message, details) => history.violate(oracle.name, message, details)
          return oracle.observe?.(observed, report) ?? []
        }),
    })
    this.runs++
    this.#hash.update(run.hash)
    return run
  }

  [Symbol.dispose](): void {
    this.guards[Symbol.dispose]()
  }
}

const isViolated = ({ world }: Run): boolean => world.history.violations.length > 0

const reportTo =
  ({ world }: Run, { name }: OracleDefinition): ReportViolation =>
  (message, details) =>
    world.history.violate(name, message, details)
