import { createHash } from 'node:crypto'
import { seededRandom } from '@kubewright/base'
import { HostGuards } from './host-guards.ts'
import { checkRun, compareRun, type Reference, referenceOf } from './oracles.ts'
import { type Run, runSchedule } from './run-schedule.ts'
import type { Operation, Schedule } from './schedule.ts'
import type { Setup } from './setup.ts'

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
  async check(schedule: Schedule, options: { readonly isDetailed?: boolean } = {}): Promise<CheckedRun> {
    const run = await this.#run(schedule, options)
    checkRun(this.setup, run)
    if (run.world.history.violations.length > 0) return { ...run, schedule }
    const reference = await this.#reference(run)
    if (reference === undefined) return { ...run, schedule }
    if ('schedule' in reference) return reference
    compareRun(this.setup, run, reference)
    return { ...run, schedule }
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
    const operations = desired.map(([subject, variant]): Operation => ({ do: 'create', subject, variant, after: 0 }))
    const random = seededRandom(`reference ${JSON.stringify(desired)}`)
    const schedule = (): Schedule => ({ seed: random.int(2 ** 31), operations, faults: [], replicas: 1 })
    const [first, second] = [schedule(), schedule()]
    const one = await this.#run(first, {})
    checkRun(this.setup, one)
    if (one.world.history.violations.length > 0) return { ...one, schedule: first }
    // Admission may depend on the order of operations.
    const isSame = (run: Run): boolean =>
      desired.every(([subject, variant]) => run.world.user.desired.get(subject) === variant)
    // Specs that no operator could realize have no expected end.
    if (!isSame(one) || one.world.log.refusals > 0) return undefined
    const other = await this.#run(second, { isShifted: true })
    if (!isSame(other)) return undefined
    return referenceOf(this.setup, one, other)
  }

  [Symbol.dispose](): void {
    this.guards[Symbol.dispose]()
  }
}
