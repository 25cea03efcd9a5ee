import { createHash } from 'node:crypto'
import type { KubeObject } from '@kubewright/api'
import { seededRandom } from '@kubewright/base'
import type { PersistentVolumeClaim } from '@kubewright/k8s'
import { type Difference, differenceText, objectId } from './cluster-state.ts'
import { neighborKey } from './cluster-user.ts'
import { compareRun, silentKindsOf } from './compare-run.ts'
import type { ReplacedData } from './data-log.ts'
import { hasEdits, isPendingPod } from './fair-differences.ts'
import { classOf, hasOwnEnd } from './fault.ts'
import { HostGuards } from './host-guards.ts'
import { inputForms, inputOf } from './input-objects.ts'
import { checkRun, reportUndeleted, undeletedOf } from './oracles.ts'
import { changesBetween, type Reference, referenceOf, withSecondRun } from './reference.ts'
import { type Run, runSchedule } from './run-schedule.ts'
import { warningsOf } from './sample-warnings.ts'
import type { Operation, Schedule } from './schedule.ts'
import type { Setup } from './setup.ts'
import { environmentHint, staleEnvironmentOf } from './stale-environment.ts'
import type { Violation } from './violation.ts'
import type { WorldOptions } from './world.ts'
import { ignoredZero } from './zero-replicas.ts'

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
  /** The schedule of the first run. */
  readonly first?: Schedule
  /** The schedule of the second run; undefined when it was made. */
  second: Schedule | undefined
}

/** The volumes of a run. */
interface Volumes {
  /** The objects that the operator has deleted. */
  readonly deleted: ReadonlySet<string>
  readonly sizes: ReadonlyMap<string, string>
}

/** Runs schedules and checks them. Keeps the references, which many schedules share. */
export class Simulation implements Disposable {
  readonly setup: Setup
  readonly guards: HostGuards = new HostGuards()
  readonly #references = new Map<string, ReferenceState | CheckedRun>()
  /** The volumes of runs without faults, by operations. */
  readonly #volumes = new Map<string, Volumes>()
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
    const isWaiting = await this.#checkDeletion(run)
    checkRun(this.setup, run)
    // A subject that waits for the deletion of another object exists in no reference.
    if (run.world.history.violations.length > 0 || isWaiting) return { ...run, schedule }
    const state = await this.#reference(run)
    if ('schedule' in state) return state
    for (const { oracle, message, details } of await this.#compare(run, state)) {
      run.world.history.violate(oracle, message, details)
    }
    if (state.reference !== undefined && run.world.history.violations.length === 0) await this.#checkData(run)
    if (state.reference !== undefined && run.world.history.violations.length === 0) await this.#checkRestart(run)
    if (run.world.history.violations.length === 0) await this.#checkZero(run)
    if (run.world.history.violations.length === 0) await this.#checkTimers(run, state)
    if (run.world.history.violations.length === 0) await this.#checkVolumes(run, state)
    if (run.world.history.violations.length === 0) await this.#checkEnvironment(run)
    return { ...run, schedule }
  }

  /**
   * Checks that deletions finish. An object may wait until others no longer use it: then it goes when the user deletes those
   * too. Resolves to whether a subject waits.
   */
  async #checkDeletion(run: Run): Promise<boolean> {
    const found = undeletedOf(run)
    if (found.length === 0) return false
    const { schedule } = run.world
    const { subjects } = this.setup
    const left = desiredOf(run).flatMap(([index]) => subjects[index] ?? [])
    const canWait = left.some(({ kind }) => found.every((object) => object.kind !== kind.kind))
    let undeleted: ReadonlySet<string> | undefined
    if (canWait) {
      const deletions = left.map((subject): Operation => {
        return { do: 'delete', subject: subjects.indexOf(subject), variant: 0, after: calm }
      })
      const operations = [...schedule.operations, ...deletions]
      undeleted = new Set(undeletedOf(await this.#run({ ...schedule, operations }, {})).map(objectId))
    }
    const stuck = found.filter((object) => undeleted?.has(objectId(object)) ?? true)
    for (const object of stuck) reportUndeleted(run, object)
    return found.some((object) => !stuck.includes(object) && this.setup.isSubjectKind(object.kind))
  }

  /** Compares a run with its reference. Makes the second run of the reference if the first one differs. */
  async #compare(run: Run, state: ReferenceState): Promise<readonly Violation[]> {
    if (state.reference === undefined) return []
    const found = compareRun(this.setup, run, state.reference)
    if (found.length === 0 || state.second === undefined) return found
    // It takes longer than any run: what the operator does after a time by itself, such as an expiry, depends on the duration.
    const other = await this.#run(state.second, { isShifted: true, isLong: true })
    state.second = undefined
    state.reference = hasSameSpecs(other, run) ? withSecondRun(this.setup, state.reference, other) : undefined
    return this.#compare(run, state)
  }

  /**
   * Checks that no fault made the operator lose data of an owner that exists. A loss that also happens without faults, when
   * every operation waits for the one before, is the consequence of the operations; and an object that does not exist then has no
   * data to lose: a stale view creates it again for a moment.
   */
  async #checkData(run: Run): Promise<void> {
    const { world, objects } = run
    const { operations, faults } = world.schedule
    if (faults.length === 0 || faults.some(({ kind }) => kind === 'clock-jump')) return
    const owners = new Set(objects.map(({ metadata }) => metadata.uid))
    const { data } = world.log
    const hasDeletions = operations.some((operation) => operation.do === 'delete')
    // After deletions, what has no owner may go too; but not when its object exists again.
    const isKept = ({ owner, isRecreated }: ReplacedData): boolean =>
      owner === '' ? !hasDeletions || (data.isRenewed && isRecreated) : owners.has(owner)
    // A StatefulSet creates claims for replicas that a user has added for a moment.
    const lost = data.lostOf(objects).filter((one) => isKept(one) && (one.isOwn || !hasEdits(run)))
    if (lost.length === 0) return
    // Longer than the run, so that a loss by design, such as the rotation of a password, happens in it too.
    const expected = await this.#run(calmly(world.schedule), { isLong: true })
    const kept = new Set(expected.objects.map(objectId))
    const usual = new Set(expected.world.log.data.lostOf(expected.objects).map(({ id }) => id))
    for (const { id, text } of lost) {
      if (usual.has(id) || !kept.has(id)) continue
      world.history.violate('data', `A fault makes the operator lose data: ${text}`)
    }
  }

  /**
   * Checks that a restart at rest changes nothing: otherwise the operator has missed a change before, such as that of an object to which
   * another one refers. What it does later without a restart does not count.
   */
  async #checkRestart({ world, objects }: Run): Promise<void> {
    const { beforeRestart } = world.user
    const { schedule } = world
    if (beforeRestart === undefined || schedule.faults.length > 0) return
    const changed = changesBetween(this.setup, world, beforeRestart, objects)
    if (changed.length === 0) return
    const operations = schedule.operations.filter((operation) => operation.do !== 'restart')
    const later = await this.#run({ ...schedule, operations }, { isLong: true })
    const usual = new Set(changesBetween(this.setup, later.world, beforeRestart, later.objects).map(placeOf))
    const [first, ...more] = changed.filter((difference) => !usual.has(placeOf(difference)))
    if (first === undefined) return
    world.history.violate(
      'settles',
      `The operator has missed a change, because its restart at rest changes ${placeOf(first)}`,
      [first, ...more].map(differenceText),
    )
  }

  /** Checks that no crash and no failed request leaves pods with former environment variables that the operator replaces otherwise. */
  async #checkEnvironment(run: Run): Promise<void> {
    const { schedule, history } = run.world
    const { faults } = schedule
    if (faults.length === 0 || !faults.every((fault) => /^(crash|error)$/.test(classOf(fault)))) return
    const found = staleEnvironmentOf(run)
    if (found === undefined || staleEnvironmentOf(await this.#run(calmly(schedule), {})) !== undefined) return
    history.violate('end state', `The end state depends on the fault: ${found}`, [environmentHint])
  }

  async #checkZero(run: Run): Promise<void> {
    const replicas = 1
    const problem = await ignoredZero(this.setup, run, (operations) =>
      this.#run({ seed: run.world.schedule.seed, operations, faults: [], replicas }, {}),
    )
    if (problem !== undefined) run.world.history.violate('end state', problem)
  }

  /**
   * Checks that no fault leaves a volume behind that the operator deletes otherwise, or with another size. References have no such
   * volumes, because they never shrink; an operator that keeps them keeps them without faults too.
   */
  async #checkVolumes({ world, objects }: Run, { reference }: ReferenceState): Promise<void> {
    const { faults } = world.schedule
    if (reference === undefined || faults.length === 0 || faults.some(hasOwnEnd)) return
    const expected = sizesOf(reference.objects)
    const unexpected = [...sizesOf(objects)].filter(([id, size]) => expected.get(id) !== size)
    if (unexpected.length === 0) return
    const { deleted, sizes } = await this.#volumesOf(calmly(world.schedule))
    const violate = (text: string): void =>
      world.history.violate('end state', `The end state depends on the fault: ${text}`)
    // An operator that keeps the volumes of deleted objects may also keep those that it had no time to delete before.
    const keepsVolumes = sizes.size > 0 && world.schedule.operations.some((one) => one.do === 'delete')
    for (const [id, size] of unexpected) {
      const usual = sizes.get(id)
      if (deleted.has(id) && !keepsVolumes) violate(`${id} remains, which the operator deletes`)
      else if (usual !== undefined && usual !== size) violate(`${id} has the size ${size}, expected ${usual}`)
    }
  }

  /** The volumes at the end of a schedule without faults. */
  async #volumesOf(schedule: Schedule): Promise<Volumes> {
    const key = JSON.stringify(schedule.operations)
    const known = this.#volumes.get(key)
    if (known !== undefined) return known
    const { objects, world } = await this.#run(schedule, {})
    const kept = new Set(objects.map(objectId))
    const deleted = new Set([...world.log.written.keys()].filter((id) => !kept.has(id)))
    const made = { deleted, sizes: sizesOf(objects) }
    this.#volumes.set(key, made)
    return made
  }

  /**
   * Checks that periodic work continues after faults, such as renewals. Both runs are repeated with more time at rest: work
   * that happens a few times only may end earlier or later.
   */
  async #checkTimers(run: Run, { reference, first }: ReferenceState): Promise<void> {
    if (reference === undefined || first === undefined) return
    if (silentKindsOf(run, reference.timesAtRest).length === 0) return
    const expected = await this.#run(first, { isLong: true })
    const actual = await this.#run(run.world.schedule, { isLong: true })
    const end = 30 * 60_000
    for (const kind of silentKindsOf(actual, expected.timesAtRest)) {
      const times = expected.timesAtRest.get(kind) ?? []
      if (times.at(-1)! < end) continue
      run.world.history.violate(
        'settles',
        `The operator no longer does its periodic work: it wrote ${kind} ${times.length} times within 40 minutes at rest without faults, and never after the fault`,
      )
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
    const wanted = desired.filter(([subject]) => subject >= 0 && inputOf(subject) === undefined)
    if (wanted.some(([subject, variant]) => this.setup.isHeld(subjects[subject]!, variant))) return unknown
    const inputs = desired.flatMap(([key, variant]): Operation[] => {
      const subject = inputOf(key)
      return subject === undefined ? [] : [{ do: 'input', subject, variant, after: 0 }]
    })
    // One after the other: objects of the same moment could be reconciled in any order, and before the operator sees a changed input.
    const creating = (list: Desired): Operation[] =>
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
    const rewrites = this.setup.inputObjects.flatMap((_, subject): Operation[] =>
      [inputForms.deleted, inputForms.original].map((variant) => ({ do: 'input', subject, variant, after: 0 })),
    )
    const first = schedule(creations)
    const second = schedule(creating(wanted.toReversed()), rewrites)
    const one = await this.#run(first, {})
    await this.#checkDeletion(one)
    checkRun(this.setup, one)
    if (one.world.history.violations.length > 0) return { ...one, schedule: first }
    // Specs whose children the server refuses until the end have no expected end.
    if (!hasSameSpecs(one, run) || one.refusalsAtRest > 0) return unknown
    // An operator that refuses a form leaves the children as they were before.
    if (creations.some(({ variant }) => variant > 0) && one.isRefused) return unknown
    // A roll-out that cannot finish leaves the pods of the former spec in place, if there were any.
    if (creations.some(({ variant }) => variant > 0) && one.objects.some(isPendingPod)) return unknown
    // The changed input is not valid, so that the operator may keep what it has made of the former one.
    if (inputs.length > 0 && warningsOf(this.setup, one).length > 0) return unknown
    return { reference: referenceOf(one), first, second }
  }

  [Symbol.dispose](): void {
    this.guards[Symbol.dispose]()
  }
}

const placeOf = ({ id, path }: Difference): string => (path === '' ? id : `${path} of ${id}`)

/** The same operations without faults, each of which waits until the one before has had its effect. */
const calmly = (schedule: Schedule): Schedule => ({
  ...schedule,
  operations: schedule.operations.map(({ actions: _, ...one }) => ({ ...one, after: Math.max(one.after, calm) })),
  faults: [],
  replicas: 1,
})

/** The requested sizes of volumes, by claim. */
function sizesOf(objects: readonly KubeObject[]): Map<string, string> {
  const isClaim = (object: KubeObject): object is PersistentVolumeClaim => object.kind === 'PersistentVolumeClaim'
  const claims = objects.filter(isClaim)
  return new Map(claims.map((claim) => [objectId(claim), String(claim.spec.resources?.requests?.['storage'] ?? '')]))
}

/** The subjects and neighbors that exist at the end of a run, with their variants, in order. */
type Desired = readonly (readonly [subject: number, variant: number])[]

const desiredOf = ({ world }: Run): Desired => [...world.user.desired].sort(([a], [b]) => a - b)

/** Whether a run of a reference has reached the specs of a run. Admission may depend on the order of operations. */
const hasSameSpecs = (reference: Run, run: Run): boolean =>
  desiredOf(run).every(([subject, variant]) => reference.world.user.desired.get(subject) === variant)
