import { seededRandom } from '@kubewright/base'
import { calm, type Operation, type Schedule } from '../define/schedule.ts'
import { inputForms, inputOf } from '../plan/input-objects.ts'
import { neighborKey } from '../world/cluster-user.ts'
import { desiredOf, type Run, type RunScheduleOptions } from '../world/run-schedule.ts'
import type { Setup } from '../world/setup.ts'
import { isPendingPod } from './fair-differences.ts'
import { type Reference, referenceOf, withSecondRun } from './reference.ts'
import { warningsOf } from './sample-warnings.ts'

/**
 * The reference of final specs, in the making: its second run is made when a schedule first differs from its first run. Most
 * references never need it.
 */
export interface ReferenceState {
  /** Undefined when no expected end is known. */
  reference: Reference | undefined
  /** The schedule of the first run. */
  readonly first?: Schedule | undefined
  /** The schedule of the second run; undefined when it was made. */
  second: Schedule | undefined
}

/** A run of a reference in which an oracle has found a violation. */
export interface FailedReference {
  readonly failed: Run
}

interface ReferencesParts {
  readonly setup: Setup
  readonly run: (schedule: Schedule, options?: RunScheduleOptions) => Promise<Run>
  /** Checks a run by itself. Resolves to whether it has violations. */
  readonly hasViolations: (run: Run) => Promise<boolean>
}

/** The references of a simulation, which many schedules share. */
export class References {
  readonly #parts: ReferencesParts
  readonly #known = new Map<string, ReferenceState | FailedReference>()

  constructor(parts: ReferencesParts) {
    this.#parts = parts
  }

  /** The reference of a run, or the run of the reference that failed. */
  async of(run: Run): Promise<ReferenceState | FailedReference> {
    const key = JSON.stringify(desiredOf(run))
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const made = await this.#make(run)
    this.#known.set(key, made)
    return made
  }

  /** Makes the second run of a reference for a run that differs from the first one. Resolves to false if it was made before. */
  async improve(state: ReferenceState, run: Run): Promise<boolean> {
    if (state.reference === undefined || state.second === undefined) return false
    // It takes longer than any run: what the operator does after a time by itself, such as an expiry, depends on the duration.
    const other = await this.#parts.run(state.second, { isShifted: true, isLong: true })
    state.second = undefined
    state.reference = hasSameSpecs(other, run) ? withSecondRun(this.#parts.setup, state.reference, other) : undefined
    return true
  }

  async #make(run: Run): Promise<ReferenceState | FailedReference> {
    const { setup } = this.#parts
    const { samples } = setup
    const desired = desiredOf(run)
    const unknown: ReferenceState = { reference: undefined, second: undefined }
    // Without work, the state of the children depends on what was before.
    const wanted = desired.filter(([subject]) => subject >= 0 && inputOf(subject) === undefined)
    if (wanted.some(([subject, variant]) => samples.isHeld(samples.subjects[subject]!, variant))) return unknown
    const inputs = desired.flatMap(([key, variant]): Operation[] => {
      const subject = inputOf(key)
      return subject === undefined ? [] : [{ do: 'input', subject, variant, after: 0 }]
    })
    // One after the other: objects of the same moment could be reconciled in any order, and before the operator sees a changed input.
    const creating = (list: typeof desired): Operation[] =>
      list.map(([subject, variant], i): Operation => {
        return { do: 'create', subject, variant, after: i === 0 && inputs.length === 0 ? 0 : calm }
      })
    const creations = creating(wanted)
    // An operator may keep or remove the children whose input is gone.
    if (inputs.some(({ variant }) => variant === inputForms.deleted)) return unknown
    const neighbors = desired
      .filter(([subject]) => subject < 0)
      .map(([key]): Operation => ({ do: 'neighbor', subject: neighborKey(key), variant: 0, after: calm }))
    const random = seededRandom(`reference ${JSON.stringify(desired)}`)
    const schedule = (order: readonly Operation[], before: readonly Operation[] = []): Schedule => ({
      seed: random.int(2 ** 31),
      operations: [...before, ...inputs, ...order, ...neighbors],
      faults: [],
      replicas: 1,
    })
    // Objects that collide depend on their order, and some fields on the identity of an input, such as its resource version: what differs
    // between both runs is not compared.
    const rewrites = samples.inputObjects.flatMap((_, subject): Operation[] =>
      [inputForms.deleted, inputForms.original].map((variant) => ({ do: 'input', subject, variant, after: 0 })),
    )
    const first = schedule(creations)
    const second = schedule(creating(wanted.toReversed()), rewrites)
    const one = await this.#parts.run(first)
    if (await this.#parts.hasViolations(one)) return { failed: one }
    // Specs whose children the server refuses until the end have no expected end.
    if (!hasSameSpecs(one, run) || one.refusalsAtRest > 0) return unknown
    // An operator that refuses a form leaves the children as they were before.
    if (creations.some(({ variant }) => variant > 0) && one.isRefused) return unknown
    // A roll-out that cannot finish leaves the pods of the former spec in place, if there were any.
    if (creations.some(({ variant }) => variant > 0) && one.objects.some(isPendingPod)) return unknown
    // The changed input is not valid, so that the operator may keep what it has made of the former one.
    if (inputs.length > 0 && warningsOf(setup, one).length > 0) return unknown
    return { reference: referenceOf(one), first, second }
  }
}

/** Whether a run of a reference has reached the specs of a run. Admission may depend on the order of operations. */
const hasSameSpecs = (reference: Run, run: Run): boolean =>
  desiredOf(run).every(([subject, variant]) => reference.world.user.desired.get(subject) === variant)
