import type { Random } from '@kubewright/base'
import { classOf, type Fault, type FaultClass, faultClasses } from './fault.ts'
import type { Operation, Schedule } from './schedule.ts'
import type { Setup } from './setup.ts'

// Long enough for a roll-out.
const calm = 60_000

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

  constructor(setup: Setup, random: Random, classes: readonly FaultClass[] | undefined) {
    this.#setup = setup
    this.#random = random
    this.#classes = new Set(classes ?? faultClasses)
    this.#scenarios = scenariosOf(setup)
  }

  /** Remembers a run: how many actions it had, and whether it reached new states. */
  learn(schedule: Schedule, actions: readonly boolean[], isNew: boolean): void {
    if (schedule.faults.length === 0) this.#actions.set(schedule.operations, actions)
    if (isNew) this.#corpus.push(schedule)
  }

  /** The schedules: without faults, then single faults in alternation with random combinations, without end. */
  *schedules(): Generator<Schedule, void, undefined> {
    for (const operations of this.#scenarios) yield this.#schedule(operations, [])
    const singles = this.#singles()
    for (;;) {
      for (let i = 0; i < 3; i++) {
        const single = singles.next()
        if (!single.done) yield single.value
      }
      yield this.#combination()
    }
  }

  #schedule(operations: readonly Operation[], faults: readonly Fault[]): Schedule {
    const seed = this.#random.int(2 ** 31)
    const isElection = faults.some((fault) => classOf(fault) === 'leader')
    return { seed, operations, faults, replicas: isElection ? this.#setup.replicas : 1 }
  }

  /**
   * Every fault at every action of every scenario. The order mixes them: one fault of each class in turn, at any action
   * of any scenario.
   */
  *#singles(): Generator<Schedule, void, undefined> {
    const random = this.#random.fork('points')
    const byClass = new Map<FaultClass, (() => Schedule)[]>()
    for (const operations of this.#scenarios) {
      for (const [index, isChange] of (this.#actions.get(operations) ?? []).entries()) {
        for (const fault of this.#faultsAt(index + 1)) {
          if (!isChange && hasSameEffectAtRead(fault)) continue
          const points = byClass.get(classOf(fault)) ?? []
          byClass.set(classOf(fault), points)
          points.push(() => this.#schedule(operations, [fault]))
        }
      }
    }
    const queues = [...byClass.values()].map((points) => random.shuffle(points))
    for (let rest = queues; rest.length > 0; rest = rest.filter(({ length }) => length > 0)) {
      for (const points of rest) yield points.pop()!()
    }
  }

  #faultsAt(at: number): Fault[] {
    const { watchedResources, hasWebhooks, hasPods, replicas } = this.#setup
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
      { kind: 'watch-lag', at, resource: undefined, for: 20_000 },
      ...watchedResources.map((resource): Fault => ({ kind: 'watch-lag', at, resource, for: 30_000 })),
      { kind: 'stale', at, changes: 3, lag: 20_000 },
      { kind: 'stale', at, changes: 12, lag: 5000 },
      { kind: 'child-deleted', at, pick: at, delay: 10 },
      { kind: 'child-deleted', at, pick: at + 1, delay: 30_000 },
      { kind: 'child-changed', at, pick: at, delay: 30_000 },
      { kind: 'slow', at, by: 8000 },
      { kind: 'server-restart', at, for: 5000 },
      { kind: 'clock-jump', at, by: 3_600_000 },
      { kind: 'quota', at, for: 10_000 },
    ]
    if (hasWebhooks) faults.push({ kind: 'webhooks-down', at, for: 10_000 })
    if (hasPods) faults.push({ kind: 'pod-crash', at, pick: at, delay: 10_000 })
    if (replicas > 1) {
      faults.push({ kind: 'pause', at, for: 40_000 }, { kind: 'lease-lost', at, for: 40_000 })
    }
    return faults.filter((fault) => this.#classes.has(classOf(fault)))
  }

  /** A random schedule, or a variation of one that reached new states. */
  #combination(): Schedule {
    const random = this.#random
    if (this.#corpus.length > 0 && random.next() < 0.4) return this.#variation(random.pick(this.#corpus))
    const operations = random.next() < 0.5 ? random.pick(this.#scenarios) : this.#operations()
    return this.#schedule(operations, this.#randomFaults(this.#length(operations)))
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
      if (!living.has(subject)) {
        operations.push({ do: 'create', subject, variant, after })
        living.add(subject)
      } else if (random.next() < 0.6) operations.push({ do: 'change', subject, variant, after })
      else {
        operations.push({ do: 'delete', subject, variant: 0, after })
        living.delete(subject)
      }
    }
    return operations
  }
}

/** Whether a fault at a read has the same effect as another one. */
const hasSameEffectAtRead = (fault: Fault): boolean =>
  (fault.kind === 'crash' && fault.when !== 'before') || (fault.kind === 'lost' && fault.effect)

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
  // The twins: the same name in another namespace, of which one is deleted.
  for (const subject of firsts) {
    const twin = subjects.findIndex((one, index) => index !== subject && one.sample === subjects[subject]!.sample)
    if (twin < 0) continue
    const create = (one: number): Operation => ({ do: 'create', subject: one, variant: 0, after: 0 })
    scenarios.push([create(subject), create(twin), { do: 'delete', subject: twin, variant: 0, after: calm }])
    scenarios.push([create(subject), create(twin)])
  }
  return scenarios
}
