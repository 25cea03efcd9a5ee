import { createHash } from 'node:crypto'
import { seededRandom } from '@kubewright/base'
import { objectId } from './cluster-state.ts'
import { neighborKey } from './cluster-user.ts'
import { HostGuards } from './host-guards.ts'
import { checkRun, compareRun, type Reference, referenceOf, withSecondRun } from './oracles.ts'
import { type Run, runSchedule } from './run-schedule.ts'
import type { Operation, Schedule } from './schedule.ts'
import type { Setup } from './setup.ts'
import type { Violation } from './violation.ts'
import type { WorldOptions } from './world.ts'

// Long enough for a roll-out.
const calm = 60_000

/** A run with its verdict. The violations are those of its world. */
export interface CheckedRun extends Run {
  /** The schedule that failed: a run of the reference may fail before the run itself. */
  readonly schedule: Schedule
}

/**
 * The reference of final specs, in the making: its second run is made when a schedule first differs from its first run. Most
 * references never need it.
 */
interface ReferenceState {
  /** Undefined when no expected end is known. */
  reference: Reference | undefined
  /** The schedule of the second run; undefined when it was made. */
  second: Schedule | undefined
}

/** Runs schedules and checks them. Keeps the references, which many schedules share. */
export class Simulation implements Disposable {
  readonly setup: Setup
  readonly guards: HostGuards = new HostGuards()
  readonly #references = new Map<string, ReferenceState | CheckedRun>()
  readonly #hash = createHash('sha256')
  runs = 0

  constructor(setup: Setup) {
    this.setup = setup
  }

  get hash(): string {
    return this.#hash.copy().digest('hex')
  }

  /** Runs one schedule and checks every oracle. */
  async check(
    schedule: Schedule,
    options: Pick<WorldOptions, 'isDetailed' | 'isInspected' | 'isRecorded'> = {},
  ): Promise<CheckedRun> {
    const run = await this.#run(schedule, options)
    checkRun(this.setup, run)
    if (run.world.history.violations.length > 0) return { ...run, schedule }
    const state = await this.#reference(run)
    if ('schedule' in state) return state
    for (const { oracle, message, details } of await this.#compare(run, state)) {
      run.world.history.violate(oracle, message, details)
    }
    if (state.reference !== undefined && run.world.history.violations.length === 0) await this.#checkData(run)
    return { ...run, schedule }
  }

  /** Compares a run with its reference. Makes the second run of the reference if the first one differs. */
  async #compare(run: Run, state: ReferenceState): Promise<readonly Violation[]> {
    if (state.reference === undefined) return []
    const found = compareRun(this.setup, run, state.reference)
    if (found.length === 0 || state.second === undefined) return found
    const other = await this.#run(state.second, { isShifted: true })
    state.second = undefined
    state.reference = hasSameSpecs(other, run) ? withSecondRun(this.setup, state.reference, other) : undefined
    return this.#compare(run, state)
  }

  /**
   * Checks that no fault made the operator lose data of an owner that exists. A loss that also happens without faults, when
   * every operation waits for the one before, is the consequence of the operations; and an object that does not exist then has no
   * data to lose: a stale view creates it again for a moment.
   */
  async #checkData({ world, objects }: Run): Promise<void> {
    const { operations, faults } = world.schedule
    if (faults.length === 0 || faults.some(({ kind }) => kind === 'clock-jump')) return
    const owners = new Set(objects.map(({ metadata }) => metadata.uid))
    const hasDeletions = operations.some((operation) => operation.do === 'delete')
    const lost = [...world.log.data.replaced.values()].filter(({ owner }) =>
      owner === '' ? !hasDeletions : owners.has(owner),
    )
    if (lost.length === 0) return
    const calmly = operations.map(({ actions: _, ...one }) => ({ ...one, after: Math.max(one.after, calm) }))
    const expected = await this.#run({ ...world.schedule, operations: calmly, faults: [], replicas: 1 }, {})
    const kept = new Set(expected.objects.map(objectId))
    for (const { id, text } of lost) {
      if (expected.world.log.data.replaced.has(id) || !kept.has(id)) continue
      world.history.violate('data', `A fault makes the operator lose data: ${text}`)
    }
  }

  async #run(schedule: Schedule, options: Parameters<typeof runSchedule>[3]): Promise<Run> {
    const run = await runSchedule(this.setup, schedule, this.guards, options)
    this.runs++
    this.#hash.update(run.hash)
    return run
  }

  /** The reference of a run, or the run of the reference that failed. */
  async #reference(run: Run): Promise<ReferenceState | CheckedRun> {
    const desired = desiredOf(run)
    const key = JSON.stringify(desired)
    const known = this.#references.get(key)
    if (known !== undefined) return known
    const made = await this.#makeReference(run, desired)
    this.#references.set(key, made)
    return made
  }

  async #makeReference(run: Run, desired: Desired): Promise<ReferenceState | CheckedRun> {
    const { subjects } = this.setup
    const unknown: ReferenceState = { reference: undefined, second: undefined }
    // Without work, the state of the children depends on what was before.
    if (desired.some(([subject, variant]) => subject >= 0 && this.setup.isHeld(subjects[subject]!, variant))) {
      return unknown
    }
    const creations = desired
      .filter(([subject]) => subject >= 0)
      .map(([subject, variant]): Operation => ({ do: 'create', subject, variant, after: 0 }))
    const neighbors = desired
      .filter(([subject]) => subject < 0)
      .map(([key]): Operation => ({ do: 'neighbor', subject: neighborKey(key), variant: 0, after: calm }))
    const random = seededRandom(`reference ${JSON.stringify(desired)}`)
    const schedule = (order: readonly Operation[]): Schedule => ({
      seed: random.int(2 ** 31),
      operations: [...order, ...neighbors],
      faults: [],
      replicas: 1,
    })
    // Objects that collide depend on their order: what differs between both orders is not compared.
    const [first, second] = [schedule(creations), schedule([...creations].reverse())]
    const one = await this.#run(first, {})
    checkRun(this.setup, one)
    if (one.world.history.violations.length > 0) return { ...one, schedule: first }
    // Specs whose children the server refuses until the end have no expected end.
    if (!hasSameSpecs(one, run) || one.refusalsAtRest > 0) return unknown
    return { reference: referenceOf(one), second }
  }

  [Symbol.dispose](): void {
    this.guards[Symbol.dispose]()
  }
}

/** The subjects and neighbors that exist at the end of a run, with their variants, in order. */
type Desired = readonly (readonly [subject: number, variant: number])[]

const desiredOf = ({ world }: Run): Desired => [...world.user.desired].sort(([a], [b]) => a - b)

/** Whether a run of a reference has reached the specs of a run. Admission may depend on the order of operations. */
const hasSameSpecs = (reference: Run, run: Run): boolean =>
  desiredOf(run).every(([subject, variant]) => reference.world.user.desired.get(subject) === variant)
