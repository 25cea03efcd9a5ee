import type { Random } from '@kubewright/base'
import { classOf, type Fault, type FaultClass, faultClasses } from './fault.ts'
import type { Operation, Schedule } from './schedule.ts'
import type { Setup } from './setup.ts'

// Long enough for a roll-out.
const calm = 60_000
// The actions after a fault in which an operator usually recovers.
const recoveryActions = 8
// Creation, deletion and creation again.
const basicScenarios = 5

/** The classes in the order of single faults. Those that find most mistakes come more often. */
const classOrder: readonly FaultClass[] = [
  'crash',
  'error',
  'stale',
  'others',
  'watch',
  'pods',
  'leader',
  'crash',
  'slow',
  'stale',
  'quota',
  'server',
  'others',
  'volumes',
  'webhooks',
  'watch',
  'permissions',
  'clock',
]

interface Point {
  readonly operations: readonly Operation[]
  readonly fault: Fault
}

/** Generates the schedules of a simulation, in the order in which they run. */
export class Explorer {
  readonly #setup: Setup
  readonly #random: Random
  readonly #classes: ReadonlySet<FaultClass>
  readonly #scenarios: readonly (readonly Operation[])[]
  /** Schedules that reached new states, to vary them. */
  readonly #corpus: Schedule[] = []
  /** The actions of each scenario without faults: whether each of them changes something. */
  readonly #actions = new Map<readonly Operation[], readonly boolean[]>()
  /** How many single faults are known, and how many of them have been tried. */
  readonly points: { tried: number; known: number } = { tried: 0, known: 0 }
  /** The single faults that have not been tried, by class. */
  readonly #points = new Map<FaultClass, { readonly late: Point[]; readonly early: Point[] }>()

  constructor(setup: Setup, random: Random, classes: readonly FaultClass[] | undefined) {
    this.#setup = setup
    this.#random = random
    this.#classes = new Set(classes ?? faultClasses)
    this.#scenarios = scenariosOf(setup)
  }

  /**
   * Remembers a run: its actions, how many of them were before the last operation, and whether it reached new states.
   */
  learn(schedule: Schedule, actions: readonly boolean[], before: number, isNew: boolean): void {
    const { operations, faults } = schedule
    if (faults.length === 0 && !this.#actions.has(operations)) {
      this.#actions.set(operations, actions)
      this.#addPoints(operations, actions, before)
    }
    if (isNew) this.#corpus.push(schedule)
  }

  /**
   * The schedules, without end: the basic scenarios without faults; then the other scenarios in alternation with single
   * faults at the actions of the scenarios that are known; then single faults in alternation with random combinations.
   */
  *schedules(): Generator<Schedule, void, undefined> {
    const basics = this.#scenarios.slice(0, basicScenarios)
    const others = this.#scenarios.slice(basicScenarios)
    for (const operations of basics) yield this.#schedule(operations, [])
    const { replicas } = this.#setup
    if (replicas > 1 && this.#classes.has('leader')) yield { ...this.#schedule(basics[0]!, []), replicas }
    // Pods that never become ready show whether the status is true.
    if (this.#setup.hasPods && this.#classes.has('pods')) {
      yield this.#schedule(basics[0]!, [{ kind: 'pods-unready', at: 1, for: undefined }])
    }
    const singles = this.#singles()
    for (let round = 0; ; round++) {
      const operations = others.shift()
      if (operations !== undefined) yield this.#schedule(operations, [])
      for (let i = 0; i < 3; i++) {
        const single = singles.next()
        if (!single.done) yield single.value
      }
      if (operations === undefined || round % 4 === 3) yield this.#combination()
    }
  }

  #schedule(operations: readonly Operation[], faults: readonly Fault[]): Schedule {
    const seed = this.#random.int(2 ** 31)
    const isElection = faults.some((fault) => classOf(fault) === 'leader')
    return { seed, operations, faults, replicas: isElection ? this.#setup.replicas : 1 }
  }

  /** Adds every fault at every action of a scenario. */
  #addPoints(operations: readonly Operation[], actions: readonly boolean[], before: number): void {
    for (const [index, isChange] of actions.entries()) {
      for (const fault of this.#faultsAt(index + 1)) {
        if (!isChange && !matters(fault)) continue
        const points = this.#points.get(classOf(fault)) ?? { late: [], early: [] }
        this.#points.set(classOf(fault), points)
        const list = index >= before ? points.late : points.early
        list.push({ operations, fault })
        this.points.known++
      }
    }
  }

  /** Every fault at every action of every known scenario, in random order: one class after the other. */
  *#singles(): Generator<Schedule, void, undefined> {
    const random = this.#random.fork('points')
    for (let isEmpty = false; !isEmpty; ) {
      isEmpty = true
      for (const name of classOrder) {
        const { late, early } = this.#points.get(name) ?? { late: [], early: [] }
        // Before the last operation, a shorter scenario has almost the same effect.
        const isLate = early.length === 0 || (late.length > 0 && random.next() < 0.75)
        const points = isLate ? late : early
        if (points.length === 0) continue
        isEmpty = false
        const at = random.int(points.length)
        const { operations, fault } = points[at]!
        // The order is random, so that the last point can take the place of this one.
        points[at] = points.at(-1)!
        points.pop()
        yield this.#schedule(operations, [fault])
        // Counted when the next schedule is requested: the last one may not run.
        this.points.tried++
      }
    }
  }

  #faultsAt(at: number): Fault[] {
    const { watchedResources, hasWebhooks, hasPods, hasVolumes, replicas } = this.#setup
    const faults: Fault[] = [
      { kind: 'crash', at, when: 'before', downtime: 0 },
      { kind: 'crash', at, when: 'after', downtime: 0 },
      { kind: 'crash', at, when: 'between', downtime: 2000 },
      { kind: 'error', at, status: 500, times: 1 },
      { kind: 'error', at, status: 409, times: 1 },
      { kind: 'error', at, status: 503, times: 3 },
      { kind: 'error', at, status: 429, times: 1 },
      { kind: 'lost', at, effect: true },
      { kind: 'lost', at, effect: false },
      { kind: 'watch-cut', at, expired: false },
      { kind: 'watch-cut', at, expired: true },
      { kind: 'watch-gap', at, for: 30_000 },
      { kind: 'watch-lag', at, resource: undefined, for: 20_000 },
      ...watchedResources.map((resource): Fault => ({ kind: 'watch-lag', at, resource, for: 30_000 })),
      { kind: 'stale', at, changes: 3, lag: 20_000 },
      { kind: 'stale', at, lag: 5000 },
      ...watchedResources.flatMap((resource): Fault[] => [
        { kind: 'stale', at, changes: 5, lag: 10_000, resource },
        { kind: 'stale', at, lag: 10_000, resource },
      ]),
      { kind: 'child-deleted', at, pick: at, delay: 10 },
      { kind: 'child-deleted', at, pick: at + 1, delay: 30_000 },
      { kind: 'child-changed', at, pick: at, delay: 30_000 },
      { kind: 'slow', at, by: 8000 },
      { kind: 'server-restart', at, for: 5000 },
      { kind: 'clock-jump', at, by: 3_600_000 },
      { kind: 'clock-jump', at, by: -600_000 },
      { kind: 'quota', at, for: 10_000 },
      { kind: 'forbidden', at, for: 10_000 },
    ]
    if (hasWebhooks) faults.push({ kind: 'webhooks-down', at, for: 10_000 })
    if (hasPods) {
      faults.push(
        { kind: 'pod-crash', at, pick: at, delay: 10_000 },
        { kind: 'pods-unready', at, for: 60_000 },
        { kind: 'pods-unready', at, for: undefined },
        { kind: 'pods-pending', at, for: 60_000 },
        { kind: 'node-lost', at, delay: 20_000, for: 30_000 },
      )
    }
    if (hasVolumes) faults.push({ kind: 'volumes-pending', at, for: 60_000 })
    if (replicas > 1) {
      faults.push({ kind: 'pause', at, for: 40_000 }, { kind: 'lease-lost', at, for: 40_000 })
    }
    return faults.filter((fault) => this.#classes.has(classOf(fault)))
  }

  /** A pair of faults, a variation of a schedule that reached new states, or a random schedule. */
  #combination(): Schedule {
    const random = this.#random
    const singles = this.#corpus.filter(({ faults }) => faults.length === 1)
    const choice = random.next()
    if (singles.length > 0 && choice < 0.35) return this.#pair(random.pick(singles))
    if (this.#corpus.length > 0 && choice < 0.6) return this.#variation(random.pick(this.#corpus))
    const operations = random.next() < 0.5 ? random.pick(this.#scenarios) : this.#operations()
    return this.#schedule(operations, this.#randomFaults(this.#length(operations)))
  }

  /** Adds a second fault while the operator recovers from one that reached new states. */
  #pair({ operations, faults }: Schedule): Schedule {
    const [first] = faults
    const at = (first?.at ?? 0) + 1 + this.#random.int(recoveryActions)
    const choices = this.#faultsAt(at)
    return this.#schedule(operations, choices.length === 0 ? faults : [...faults, this.#random.pick(choices)])
  }

  #variation({ operations, faults }: Schedule): Schedule {
    const random = this.#random
    const most = this.#length(operations)
    const moved = faults.map((fault) => ({ ...fault, at: Math.max(1, fault.at + random.int(5) - 2) }))
    return this.#schedule(operations, [...moved, ...this.#randomFaults(most)].slice(0, 4))
  }

  /** About how many actions the operator takes. */
  #length(operations: readonly Operation[]): number {
    const known = this.#actions.get(operations)?.length
    return Math.max(4, known ?? Math.max(8, ...[...this.#actions.values()].map(({ length }) => length)))
  }

  #randomFaults(most: number): Fault[] {
    const count = 1 + this.#random.int(3)
    const faults: Fault[] = []
    for (let i = 0; i < count; i++) {
      const choices = this.#faultsAt(1 + this.#random.int(most))
      if (choices.length > 0) faults.push(this.#random.pick(choices))
    }
    return faults
  }

  /** A random sequence of operations. */
  #operations(): Operation[] {
    const random = this.#random
    const { subjects, samples } = this.#setup
    const operations: Operation[] = []
    const living = new Set<number>()
    const pause = (): number => random.pick([5, 50, 500, 5000, calm])
    const length = 2 + random.int(4)
    for (let i = 0; i < length; i++) {
      const subject = random.int(subjects.length)
      const variant = random.int(samples[subjects[subject]!.sample]!.variants.length)
      const after = pause()
      const actions = random.next() < 0.3 ? { actions: 1 + random.int(6) } : {}
      if (living.size > 0 && random.next() < 0.1) {
        operations.push({ do: 'neighbor', subject: random.int(4), variant: 0, after: calm })
        continue
      }
      if (!living.has(subject)) {
        operations.push({ do: 'create', subject, variant, after })
        living.add(subject)
      } else if (random.next() < 0.6) operations.push({ do: 'change', subject, variant, after, ...actions })
      else {
        operations.push({ do: 'delete', subject, variant: 0, after, ...actions })
        living.delete(subject)
      }
    }
    return operations
  }
}

/** Whether a fault at a read differs from the same fault at a write nearby. */
function matters(fault: Fault): boolean {
  if (fault.kind === 'crash') return fault.when === 'before'
  if (fault.kind === 'lost') return !fault.effect
  return fault.kind === 'error' || fault.kind === 'slow' || fault.kind === 'pause'
}

/** The sequences of operations that every operator must handle. */
function scenariosOf({ subjects, samples }: Setup): (readonly Operation[])[] {
  const firsts = subjects.flatMap((subject, index) =>
    subjects.findIndex((one) => one.sample === subject.sample) === index ? [index] : [],
  )
  const all = (verb: Operation['do'], after: number): Operation[] =>
    firsts.map((subject) => ({ do: verb, subject, variant: 0, after }))
  const scenarios: (readonly Operation[])[] = [
    all('create', 0),
    [...all('create', 0), ...all('delete', calm)],
    [...all('create', 0), ...all('delete', calm), ...all('create', 20)],
    [...all('create', 0), ...all('delete', 15), ...all('create', calm)],
    [...all('create', 0), ...all('delete', 15)],
  ]
  for (const subject of firsts) {
    const { variants } = samples[subjects[subject]!.sample]!
    const create: Operation = { do: 'create', subject, variant: 0, after: 0 }
    const others = firsts.filter((one) => one !== subject).map((one): Operation => ({ ...create, subject: one }))
    for (let variant = 1; variant < variants.length; variant++) {
      const change: Operation = { do: 'change', subject, variant, after: calm }
      scenarios.push([...others, create, change])
      scenarios.push([
        ...others,
        create,
        change,
        { do: 'change', subject, variant: 0, after: variant % 2 === 0 ? calm : 40 },
      ])
      if (variant <= 3) scenarios.push([...others, create, { ...change, after: 12 }])
    }
  }
  for (const subject of firsts) {
    const create = (one: number): Operation => ({ do: 'create', subject: one, variant: 0, after: 0 })
    const remove = (one: number): Operation => ({ do: 'delete', subject: one, variant: 0, after: calm })
    // An object of another owner that resembles a child.
    for (const pick of [0, 1]) {
      const neighbor: Operation = { do: 'neighbor', subject: pick, variant: 0, after: calm }
      scenarios.push([
        create(subject),
        neighbor,
        pick === 0 ? remove(subject) : { ...create(subject), do: 'change', variant: 1 },
      ])
    }
    // Deletion and change in the middle of the work.
    for (const actions of [1, 3]) {
      scenarios.push([create(subject), { ...remove(subject), actions }])
      scenarios.push([create(subject), { do: 'change', subject, variant: actions, after: calm, actions }])
    }
    // Objects that collide: the same name in another namespace, and a second object in the same namespace.
    for (const [twin, { sample }] of subjects.entries()) {
      if (twin === subject || sample !== subjects[subject]!.sample) continue
      scenarios.push([create(subject), create(twin), remove(twin)])
      scenarios.push([create(subject), create(twin)])
    }
  }
  return scenarios
}
