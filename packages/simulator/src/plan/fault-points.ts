import type { Random } from '@kubewright/base'
import type { Fault, FaultDefinition, FaultFacts } from '../define/define-fault.ts'
import type { FaultKinds } from '../define/fault-kinds.ts'
import type { Operation } from '../define/schedule.ts'
import type { Samples } from './samples.ts'

// Of this many random points, the one that differs most from those that were tried is next.
const candidates = 40
// A schedule with several replicas takes five times as long as others, so that the choice may take longer too.
const replicaCandidates = 400

/** An action of the operator: a request or a call to the world outside the cluster. */
export interface Action {
  /** The verb and the resource, or the method. */
  readonly label: string
  readonly isChange: boolean
}

/** Faults at one action of a scenario: a single one, or a pair that belongs together. */
export interface Point {
  readonly operations: readonly Operation[]
  readonly faults: readonly Fault[]
  /** Points with the same texts are similar: from the most general text to the most special one. */
  readonly features: readonly string[]
  /** Lowers the priority of points that seldom find more than others. */
  readonly penalty: number
}

/** The faults at the actions of the known scenarios, and which of them were tried. */
export class FaultPoints {
  readonly #kinds: FaultKinds
  readonly #facts: FaultFacts
  readonly #samples: Samples
  readonly #classes: ReadonlySet<string>
  /** How many single faults are known, and how many of them have been tried. */
  readonly counts: { tried: number; known: number } = { tried: 0, known: 0 }
  /** The points that have not been tried, by class. */
  readonly #points = new Map<string, Point[]>()
  /** How often points with a feature were tried. */
  readonly #tried = new Map<string, number>()

  constructor(kinds: FaultKinds, facts: FaultFacts, samples: Samples, classes: ReadonlySet<string>) {
    this.#kinds = kinds
    this.#facts = facts
    this.#samples = samples
    this.#classes = classes
  }

  /**
   * Adds every fault at every action of a scenario. While a fault before the last operation lasts, the user performs the
   * remaining operations: the operator sees them late, or never sees the states between them.
   */
  add(operations: readonly Operation[], actions: readonly Action[], starts: readonly number[]): void {
    for (const [index, action] of actions.entries()) {
      // The operation that the action follows.
      const started = starts.filter((start) => start <= index).length
      const segment = Math.max(0, started - 1)
      const isLast = segment === operations.length - 1
      const verb = this.#verbOf(operations[segment])
      for (const fault of this.faultsAt(index + 1)) {
        const kind = this.#kinds.of(fault)
        if (!action.isChange && !(kind.mattersAtReads?.(fault) ?? false)) continue
        this.#addPoint(operations, [fault], action, verb, this.#kinds.penaltyOf(fault, isLast ? 'last' : 'early'))
        const millis = isLast ? 0 : kind.duration(fault)
        if (millis > 0) {
          const during = operationsDuring(operations, segment, millis)
          const next = operations[segment + 1]
          const verbs = `${verb} ${this.#verbOf(next)}`
          const penalty = this.#kinds.penaltyOf(fault, 'during') + this.#penaltyDuring(fault, next)
          this.#addPoint(during, [fault], action, verbs, penalty)
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
    const isElection = this.#kinds.needsReplicas(fault)
    const subject = operation?.do === 'change' ? this.#samples.subjects[operation.subject] : undefined
    if (operation === undefined || subject === undefined) return isElection ? 2 : 0
    const isCombined = this.#samples.formOf(subject, operation.variant).parts !== undefined
    return isCombined ? (isElection ? -3 : -1) : 0
  }

  /** The verb of an operation. One on a second object of a sample differs: the operator already has objects like it. */
  #verbOf(operation: Operation | undefined): string {
    if (operation === undefined) return ''
    if (operation.do === 'input') return 'input'
    const { subjects } = this.#samples
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
    const name = this.#kinds.classOf(first)
    const points = this.#points.get(name) ?? []
    this.#points.set(name, points)
    points.push({ operations, faults, features, penalty: penalty + (action.isChange ? 0 : 2) })
    if (faults.length === 1) this.counts.known++
  }

  /** The faults of the chosen classes that are possible at an action. */
  faultsAt(at: number): Fault[] {
    return this.#chosen.flatMap((kind) => kind.points(at, this.#facts))
  }

  /** The faults to try first, at the creation of the samples. */
  get openings(): readonly Fault[] {
    return this.#chosen.flatMap((kind) => kind.opening?.(this.#facts) ?? [])
  }

  /** Whether a fault of the chosen classes needs several replicas. */
  get needReplicas(): boolean {
    return this.#chosen.some(({ needsReplicas }) => needsReplicas)
  }

  get #chosen(): readonly FaultDefinition[] {
    return this.#kinds.all.filter((kind) => this.#classes.has(kind.class))
  }

  /** Pairs of faults at the same action. */
  #pairsAt(at: number): (readonly Fault[])[] {
    const pairs = this.#chosen.flatMap((kind) => kind.pairs?.(at) ?? [])
    return pairs.filter((pair) => pair.every((fault) => this.#classes.has(this.#kinds.classOf(fault))))
  }

  /** The points, one class after the other: the most unlike ones first. Ends when all known ones were tried. */
  *untried(random: Random): Generator<Point, void, undefined> {
    for (let isEmpty = false; !isEmpty; ) {
      isEmpty = true
      for (const name of this.#kinds.turns) {
        const points = this.#points.get(name) ?? []
        const [first] = points
        if (first === undefined) continue
        isEmpty = false
        const isElection = first.faults.some((fault) => this.#kinds.needsReplicas(fault))
        const point = this.#take(points, random, isElection ? replicaCandidates : candidates)
        for (const feature of point.features) this.#tried.set(feature, (this.#tried.get(feature) ?? 0) + 1)
        yield point
        // Counted when the next one is requested: the last one may not run.
        if (point.faults.length === 1) this.counts.tried++
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
}

/** Identifies a fault apart from the point at which it happens. */
function featureOf(fault: Fault): string {
  return Object.entries(fault)
    .filter(([name]) => name !== 'at' && name !== 'pick')
    .map(([, value]) => String(value))
    .join(' ')
}

/** The operations with those after `segment` in the second half of a fault that happens in it. */
function operationsDuring(operations: readonly Operation[], segment: number, millis: number): Operation[] {
  return operations.map(({ actions: _, ...operation }, index) => {
    if (index <= segment) return operations[index]!
    return { ...operation, after: Math.round(index === segment + 1 ? millis * 0.65 : millis * 0.05) }
  })
}
