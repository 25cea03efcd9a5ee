import type { Random } from '@kubewright/base'
import { classOf, type Fault, type FaultClass, faultClasses } from './fault.ts'
import type { Action } from './fault-injector.ts'
import { changeForm, inputForms } from './input-objects.ts'
import type { Operation, Schedule } from './schedule.ts'
import type { Setup } from './setup.ts'
import type { Variant } from './variants.ts'

// Long enough for a roll-out.
const calm = 60_000
// Longer than the time at rest.
const rested = 26 * 60_000
// Longer than the lease of a leader and the pause between two attempts to acquire it.
const leaderless = 360_000
// The actions after a fault in which an operator usually recovers.
const recoveryActions = 8
// Creation, deletion and creation again.
const basicScenarios = 5
// Of this many random points, the one that differs most from those that were tried is next.
const candidates = 40
// A schedule with several replicas takes five times as long as others, so that the choice may take longer too.
const leaderCandidates = 400

// The first ones are usually those that the samples refer to.
const maxInputs = 3

// After two changes of single fields, which are easier to understand.
const combinedPlace = 2

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
  'leader',
  'server',
  'others',
  'volumes',
  'webhooks',
  'stale',
  'watch',
  'pods',
  'permissions',
  'leader',
  'clock',
]

/** Faults at one action of a scenario: a single one, or a pair that belongs together. */
interface Point {
  readonly operations: readonly Operation[]
  readonly faults: readonly Fault[]
  /** Points with the same texts are similar: from the most general text to the most special one. */
  readonly features: readonly string[]
  /** A handicap for points that rarely find more than others. */
  readonly penalty: number
}

/** Generates the schedules of a simulation, in the order in which they run. */
export class Explorer {
  readonly #setup: Setup
  readonly #random: Random
  readonly #classes: ReadonlySet<FaultClass>
  readonly #scenarios: readonly (readonly Operation[])[]
  /** Schedules that reached new states, to vary them. */
  readonly #corpus: Schedule[] = []
  /** The number of actions of each scenario without faults. */
  readonly #lengths = new Map<readonly Operation[], number>()
  /** How many single faults are known, and how many of them have been tried. */
  readonly points: { tried: number; known: number } = { tried: 0, known: 0 }
  /** The points that have not been tried, by class. */
  readonly #points = new Map<FaultClass, Point[]>()
  /** How often points with a feature were tried. */
  readonly #tried = new Map<string, number>()

  constructor(setup: Setup, random: Random, classes: readonly FaultClass[] | undefined) {
    this.#setup = setup
    this.#random = random
    this.#classes = new Set(classes ?? faultClasses)
    this.#scenarios = scenariosOf(setup)
  }

  /** Remembers a run: its actions, how many of them were before each operation, and whether it reached new states. */
  learn(schedule: Schedule, actions: readonly Action[], starts: readonly number[], isNew: boolean): void {
    const { operations, faults } = schedule
    // A restart comes when the work is done.
    const isRestart = operations.some((operation) => operation.do === 'restart')
    if (faults.length === 0 && schedule.replicas === 1 && !isRestart && !this.#lengths.has(operations)) {
      this.#lengths.set(operations, actions.length)
      this.#addPoints(operations, actions, starts)
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

  /**
   * Adds every fault at every action of a scenario. While a fault before the last operation lasts, the user performs the
   * remaining operations: the operator sees them late, or never sees the states between them.
   */
  #addPoints(operations: readonly Operation[], actions: readonly Action[], starts: readonly number[]): void {
    for (const [index, action] of actions.entries()) {
      // The operation that the action follows.
      const segment = Math.max(
        0,
        starts.findLastIndex((start) => start <= index),
      )
      const isLast = segment === operations.length - 1
      const verb = this.#verbOf(operations[segment])
      for (const fault of this.#faultsAt(index + 1)) {
        if (!action.isChange && !matters(fault)) continue
        this.#addPoint(operations, [fault], action, verb, penaltyOf(fault, isLast ? 'last' : 'early'))
        const millis = isLast ? 0 : durationOf(fault)
        if (millis > 0) {
          const during = operationsDuring(operations, segment, millis)
          const next = operations[segment + 1]
          const verbs = `${verb} ${this.#verbOf(next)}`
          this.#addPoint(during, [fault], action, verbs, penaltyOf(fault, 'during') + this.#penaltyDuring(fault, next))
        }
      }
      if (!action.isChange) continue
      for (const pair of this.#pairsAt(index + 1)) this.#addPoint(operations, pair, action, verb, isLast ? 1 : 4)
    }
  }

  /**
   * The handicap of an operation during a fault. A change of many fields shows most, above all the writes of a former leader;
   * a refused change shows nothing.
   */
  #penaltyDuring(fault: Fault, operation: Operation | undefined): number {
    if (operation?.do === 'invalid') return 4
    const isElection = classOf(fault) === 'leader'
    const subject = operation?.do === 'change' ? this.#setup.subjects[operation.subject] : undefined
    if (operation === undefined || subject === undefined) return isElection ? 2 : 0
    const isCombined = this.#setup.partsOf(subject, operation.variant).length > 0
    return isCombined ? (isElection ? -3 : -1) : 0
  }

  /** The verb of an operation. One on a second object of a sample differs: the operator already has objects like it. */
  #verbOf(operation: Operation | undefined): string {
    if (operation === undefined) return ''
    if (operation.do === 'input') return 'input'
    const { subjects } = this.#setup
    const sample = subjects[operation.subject]?.sample
    const isTwin = subjects.findIndex((subject) => subject.sample === sample) !== operation.subject
    return isTwin ? `${operation.do} twin` : operation.do
  }

  #addPoint(
    operations: readonly Operation[],
    faults: readonly Fault[],
    action: Action,
    verbs: string,
    penalty: number,
  ): void {
    const [first] = faults
    if (first === undefined) return
    const kind = faults.map(featureOf).join('+')
    const features = [kind, `${kind} ${action.label}`, `${kind} ${action.label} ${verbs}`]
    const points = this.#points.get(classOf(first)) ?? []
    this.#points.set(classOf(first), points)
    points.push({ operations, faults, features, penalty: penalty + (action.isChange ? 0 : 2) })
    if (faults.length === 1) this.points.known++
  }

  /** The faults at the actions of the known scenarios, one class after the other: the most unlike ones first. */
  *#singles(): Generator<Schedule, void, undefined> {
    const random = this.#random.fork('points')
    for (let isEmpty = false; !isEmpty; ) {
      isEmpty = true
      for (const name of classOrder) {
        const points = this.#points.get(name) ?? []
        if (points.length === 0) continue
        isEmpty = false
        const { operations, faults, features } = this.#take(
          points,
          random,
          name === 'leader' ? leaderCandidates : candidates,
        )
        for (const feature of features) this.#tried.set(feature, (this.#tried.get(feature) ?? 0) + 1)
        yield this.#schedule(operations, faults)
        // Counted when the next schedule is requested: the last one may not run.
        if (faults.length === 1) this.points.tried++
      }
    }
  }

  /** Removes the point that resembles those that were tried the least, of `most` random ones. */
  #take(points: Point[], random: Random, most: number): Point {
    let best = 0
    let lowest = Number.POSITIVE_INFINITY
    for (let i = 0; i < Math.min(most, points.length); i++) {
      const at = points.length <= most ? i : random.int(points.length)
      const { features, penalty } = points[at]!
      const score = features.reduce(
        (sum, feature, index) => sum + (index + 1) * (this.#tried.get(feature) ?? 0),
        penalty,
      )
      if (score + random.next() >= lowest) continue
      lowest = score
      best = at
    }
    const point = points[best]!
    // The order is random, so that the last point can take the place of this one.
    points[best] = points.at(-1)!
    points.pop()
    return point
  }

  #faultsAt(at: number): Fault[] {
    const { watchedResources, hasWebhooks, hasPods, hasVolumes, replicas } = this.#setup
    const faults: Fault[] = [
      { kind: 'crash', at, when: 'before', downtime: 0 },
      { kind: 'crash', at, when: 'after', downtime: 0 },
      { kind: 'crash', at, when: 'between', downtime: 30_000 },
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
      { kind: 'clock-jump', at, by: -60_000 },
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
      faults.push({ kind: 'pause', at, for: leaderless }, { kind: 'lease-lost', at, for: leaderless })
    }
    return faults.filter((fault) => this.#classes.has(classOf(fault)))
  }

  /** Pairs of faults at the same action: a child is deleted while the operator does not see it. */
  #pairsAt(at: number): (readonly Fault[])[] {
    if (!this.#classes.has('others')) return []
    const deletion: Fault = { kind: 'child-deleted', at, pick: at, delay: 10_000 }
    const blind: readonly Fault[] = [
      { kind: 'crash', at, when: 'between', downtime: 30_000 },
      { kind: 'watch-gap', at, for: 30_000 },
    ]
    return blind.filter((fault) => this.#classes.has(classOf(fault))).map((fault) => [fault, deletion])
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
    return Math.max(4, this.#lengths.get(operations) ?? Math.max(8, ...this.#lengths.values()))
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

/** Identifies a fault apart from the point at which it happens. */
function featureOf(fault: Fault): string {
  return Object.entries(fault)
    .filter(([name]) => name !== 'at' && name !== 'pick')
    .map(([, value]) => String(value))
    .join(' ')
}

/** How long a fault keeps the operator from seeing or doing something; 0 for faults of an instant. */
function durationOf(fault: Fault): number {
  switch (fault.kind) {
    case 'crash':
      return fault.downtime
    case 'stale':
      return fault.lag
    case 'slow':
      return fault.by
    case 'watch-gap':
    case 'watch-lag':
    case 'pause':
    case 'lease-lost':
    case 'quota':
    case 'forbidden':
    case 'webhooks-down':
    case 'pods-pending':
    case 'volumes-pending':
      return fault.for
    default:
      return 0
  }
}

/**
 * The handicap of a fault at an action: of the last operation, of an earlier one, or of an earlier one with the next
 * operation during the fault.
 */
function penaltyOf(fault: Fault, place: 'last' | 'early' | 'during'): number {
  const name = classOf(fault)
  // Two leaders matter when the later one does other work.
  if (name === 'leader') return place === 'during' ? (fault.kind === 'pause' ? 0 : 1) : place === 'last' ? 2 : 6
  if (name === 'stale') return place === 'last' ? 0 : place === 'during' ? 2 : 4
  // A new process that works on an old object has lost its memory.
  if (fault.kind === 'crash') return fault.downtime > 0 ? (place === 'during' ? 0 : 2) : place === 'last' ? 0 : 2
  return place === 'early' ? 4 : 0
}

/** The operations with those after `segment` in the second half of a fault that happens in it. */
function operationsDuring(operations: readonly Operation[], segment: number, millis: number): Operation[] {
  return operations.map(({ actions: _, ...operation }, index) => {
    if (index <= segment) return operations[index]!
    return { ...operation, after: Math.round(index === segment + 1 ? millis * 0.65 : millis * 0.05) }
  })
}

/** Whether a fault at a read differs from the same fault at a write nearby. */
function matters(fault: Fault): boolean {
  if (fault.kind === 'crash') return fault.when === 'before'
  if (fault.kind === 'lost') return !fault.effect
  return fault.kind === 'error' || fault.kind === 'slow' || fault.kind === 'pause'
}

/** The sequences of operations that every operator must handle. */
function scenariosOf({ subjects, samples, inputObjects, followedKinds }: Setup): (readonly Operation[])[] {
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
  const changes: (readonly Operation[])[] = []
  const returns: (readonly Operation[])[] = []
  const starts: (readonly Operation[])[] = []
  const endings: (readonly Operation[])[] = []
  const special: (readonly Operation[])[] = []
  for (const subject of firsts) {
    const { variants } = samples[subjects[subject]!.sample]!
    const create: Operation = { do: 'create', subject, variant: 0, after: 0 }
    const others = firsts.filter((one) => one !== subject).map((one): Operation => ({ ...create, subject: one }))
    for (const variant of orderOf(variants)) {
      const change: Operation = { do: 'change', subject, variant, after: calm }
      const back: Operation = { ...change, variant: 0, after: variant % 2 === 0 ? calm : 40 }
      changes.push([...others, create, change])
      // A volume cannot shrink.
      if (!variants[variant]!.isGrowth) {
        returns.push([...others, create, change, back])
        // An object whose first form does not work must recover: it has no pods of an earlier form.
        starts.push([...others, { ...create, variant }, { ...change, variant: 0 }])
      }
      if (variant <= 3) returns.push([...others, create, { ...change, after: 12 }])
      // A deletion must also undo what an earlier form has caused, and must not wait for a form that stops the work.
      endings.push([...others, create, change, ...all('delete', calm)])
    }
  }
  // One sample may refer to another one, which the user creates before or after it.
  for (const order of firsts.length > 1 ? [firsts, firsts.toReversed()] : []) {
    const creations = order.map((subject): Operation => ({ do: 'create', subject, variant: 0, after: calm }))
    special.push([...creations, { do: 'restart', subject: 0, variant: 0, after: rested }])
  }
  const inputs: (readonly Operation[])[] = []
  for (const [subject, { kind, changes: forms, canGo }] of inputObjects.slice(0, maxInputs).entries()) {
    const { original, deleted } = inputForms
    const put = (variant: number, after: number): Operation => ({ do: 'input', subject, variant, after })
    // The sample is created before the object that it refers to.
    if (canGo) inputs.push([put(deleted, 0), ...all('create', 20), put(original, calm)])
    // The sample is deleted when the object is gone, which may come back.
    if (canGo) inputs.push([...all('create', 0), put(deleted, calm), ...all('delete', calm), put(original, calm)])
    // An operator that does not watch the kind may read an input once, by design.
    if (!followedKinds.has(kind)) continue
    for (const [index] of forms.entries()) {
      const changed = put(changeForm(index), calm)
      inputs.splice(index, 0, [...all('create', 0), changed])
      inputs.push([...all('create', 0), changed, put(original, calm)])
    }
    if (canGo) inputs.push([...all('create', 0), put(deleted, calm), put(original, calm)])
  }
  for (const subject of firsts) {
    const create = (one: number): Operation => ({ do: 'create', subject: one, variant: 0, after: 0 })
    const remove = (one: number): Operation => ({ do: 'delete', subject: one, variant: 0, after: calm })
    const change = (variant: number): Operation => ({ do: 'change', subject, variant, after: calm })
    const { refused, variants } = samples[subjects[subject]!.sample]!
    const combined = variants.findIndex(({ parts }) => parts !== undefined)
    // Values that admission must refuse, all in one schedule: the operator sees none of them.
    if (refused.length > 0) {
      const tries = refused.map((_, variant): Operation => ({ do: 'invalid', subject, variant, after: 1000 }))
      special.push([create(subject), ...tries])
    }
    // An object of another owner that resembles a child.
    const neighbors = [0, 1].map((pick): Operation => ({ do: 'neighbor', subject: pick, variant: 0, after: calm }))
    special.push([create(subject), neighbors[0]!, remove(subject)])
    special.push([create(subject), ...neighbors, change(Math.max(1, combined))])
    // Objects that collide: the same name in another namespace, and a second object in the same namespace.
    for (const [twin, { sample }] of subjects.entries()) {
      if (twin === subject || sample !== subjects[subject]!.sample) continue
      special.push([create(subject), create(twin), remove(twin)])
      special.push([create(subject), create(twin), change(1 + (twin % 3))])
      special.push([create(subject), create(twin)])
      if (combined > 0) special.push([create(subject), { ...create(twin), variant: combined }])
    }
    // Deletion and change in the middle of the work.
    for (const actions of [1, 3]) {
      special.push([create(subject), { ...remove(subject), actions }])
      special.push([create(subject), { ...change(actions), actions }])
    }
  }
  return [...scenarios, ...interleaved([changes, special, endings, changes, returns, inputs, starts])]
}

/** The indexes of the changed forms. The combined one, which is the last, comes early. */
function orderOf(variants: readonly Variant[]): number[] {
  const indexes = variants.map((_, index) => index).slice(1)
  if (variants.at(-1)?.parts !== undefined) indexes.splice(combinedPlace, 0, ...indexes.splice(-1))
  return indexes
}

/** The items of several lists in turn. A list that occurs twice has its turn twice as often. */
function interleaved<T>(lists: readonly (readonly T[])[]): T[] {
  const rest = new Map(lists.map((list) => [list, [...list]]))
  const items: T[] = []
  while ([...rest.values()].some(({ length }) => length > 0)) {
    for (const list of lists) items.push(...rest.get(list)!.splice(0, 1))
  }
  return items
}
