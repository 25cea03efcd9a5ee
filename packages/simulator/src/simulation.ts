import { createHash } from 'node:crypto'
import { seededRandom } from '@kubewright/base'
import { neighborKey } from './cluster-user.ts'
import { HostGuards } from './host-guards.ts'
import { checkRun, compareRun, type Reference, referenceOf } from './oracles.ts'
import { type Run, runSchedule } from './run-schedule.ts'
import type { Operation, Schedule } from './schedule.ts'
import type { Setup } from './setup.ts'
import type { WorldOptions } from './world.ts'

// Long enough for a roll-out.
const calm = 60_000

/** A run with its verdict. The violations are those of its world. */
export interface CheckedRun extends Run {
  /** The schedule that failed: a run of the reference may fail before the run itself. */
  readonly schedule: Schedule
}

/** Runs schedules and checks them. Keeps the references, which many schedules share. */
export class Simulation implements Disposable {
  readonly setup: Setup
  readonly guards: HostGuards = new HostGuards()
  readonly #references = new Map<string, Promise<Reference | CheckedRun | undefined>>()
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
    const reference = await this.#reference(run)
    if (reference === undefined) return { ...run, schedule }
    if ('schedule' in reference) return reference
    compareRun(this.setup, run, reference)
    if (run.world.history.violations.length === 0) await this.#checkData(run)
    return { ...run, schedule }
  }

  /**
   * Checks that no fault made the operator lose data of an owner that exists. A loss that also happens without faults, when
   * every operation waits for the one before, is the consequence of the operations.
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
    for (const { id, text } of lost) {
      if (expected.world.log.data.replaced.has(id)) continue
      world.history.violate('data', `A fault makes the operator lose data: ${text}`)
    }
  }

  async #run(schedule: Schedule, options: Parameters<typeof runSchedule>[3]): Promise<Run> {
    const run = await runSchedule(this.setup, schedule, this.guards, options)
    this.runs++
    this.#hash.update(run.hash)
    return run
  }

  /** The reference of a run, or the run of the reference that failed; undefined when the final specs cannot be created directly. */
  #reference({ world }: Run): Promise<Reference | CheckedRun | undefined> {
    const desired = [...world.user.desired].sort(([a], [b]) => a - b)
    const key = JSON.stringify(desired)
    const known = this.#references.get(key)
    if (known !== undefined) return known
    const made = this.#makeReference(desired)
    this.#references.set(key, made)
    return made
  }

  async #makeReference(desired: readonly (readonly [number, number])[]): Promise<Reference | CheckedRun | undefined> {
    const { subjects } = this.setup
    // Without work, the state of the children depends on what was before.
    if (desired.some(([subject, variant]) => subject >= 0 && this.setup.isHeld(subjects[subject]!, variant))) {
      return undefined
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
    // Admission may depend on the order of operations.
    const isSame = (run: Run): boolean =>
      desired.every(([subject, variant]) => run.world.user.desired.get(subject) === variant)
    // Specs whose children the server refuses until the end have no expected end.
    if (!isSame(one) || one.refusalsAtRest > 0) return undefined
    const other = await this.#run(second, { isShifted: true })
    if (!isSame(other)) return undefined
    return referenceOf(this.setup, one, other)
  }

  [Symbol.dispose](): void {
    this.guards[Symbol.dispose]()
  }
}
