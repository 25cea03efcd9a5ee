import type { Random } from '@kubewright/base'
import type { Fault } from '../define/define-fault.ts'
import type { FaultKinds } from '../define/fault-kinds.ts'
import { calm, type Operation, type Schedule } from '../define/schedule.ts'
import type { Action, FaultPoints } from './fault-points.ts'
import type { Samples } from './samples.ts'
import { basicScenarios } from './scenarios.ts'

// The actions after a fault in which an operator usually recovers.
const recoveryActions = 8

interface ScheduleOrderParts {
  readonly scenarios: readonly (readonly Operation[])[]
  readonly samples: Samples
  readonly kinds: FaultKinds
  readonly points: FaultPoints
  /** The number of replicas in schedules that need several. */
  readonly replicas: number
  readonly random: Random
}

/** The schedules of a simulation, in the order in which they run. */
export class ScheduleOrder {
  readonly #parts: ScheduleOrderParts
  readonly #random: Random
  readonly #points: FaultPoints
  /** Schedules that reached new states, to vary them. */
  readonly #corpus: Schedule[] = []
  /** The number of actions of each scenario without faults. */
  readonly #lengths = new Map<readonly Operation[], number>()

  constructor(parts: ScheduleOrderParts) {
    this.#parts = parts
    this.#random = parts.random
    this.#points = parts.points
  }

  /** Remembers a run: its actions, how many of them were before each operation, and whether it reached new states. */
  learn(schedule: Schedule, actions: readonly Action[], starts: readonly number[], isNew: boolean): void {
    const { operations, faults } = schedule
    // A restart comes when the work is done.
    const isRestart = operations.some((operation) => operation.do === 'restart')
    if (faults.length === 0 && schedule.replicas === 1 && !isRestart && !this.#lengths.has(operations)) {
      this.#lengths.set(operations, actions.length)
      this.#points.add(operations, actions, starts)
    }
    if (isNew) this.#corpus.push(schedule)
  }

  /**
   * The schedules, without end: the basic scenarios without faults; then the other scenarios in alternation with single
   * faults at the actions of the scenarios that are known; then single faults in alternation with random combinations.
   */
  *schedules(): Generator<Schedule, void, undefined> {
    const { scenarios, replicas } = this.#parts
    const basics = scenarios.slice(0, basicScenarios)
    const others = scenarios.slice(basicScenarios)
    for (const operations of basics) yield this.#schedule(operations, [])
    if (replicas > 1 && this.#points.needReplicas) yield { ...this.#schedule(basics[0]!, []), replicas }
    for (const fault of this.#points.openings) yield this.#schedule(basics[0]!, [fault])
    const singles = this.#points.untried(this.#random.fork('points'))
    for (let round = 0; ; round++) {
      const operations = others.shift()
      if (operations !== undefined) yield this.#schedule(operations, [])
      for (let i = 0; i < 3; i++) {
        const single = singles.next()
        if (!single.done) yield this.#schedule(single.value.operations, single.value.faults)
      }
      if (operations === undefined || round % 4 === 3) yield this.#combination()
    }
  }

  #schedule(operations: readonly Operation[], faults: readonly Fault[]): Schedule {
    const { kinds, replicas } = this.#parts
    const seed = this.#random.int(2 ** 31)
    return { seed, operations, faults, replicas: faults.some((fault) => kinds.needsReplicas(fault)) ? replicas : 1 }
  }

  /** A pair of faults, a variation of a schedule that reached new states, or a random schedule. */
  #combination(): Schedule {
    const random = this.#random
    const singles = this.#corpus.filter(({ faults }) => faults.length === 1)
    const choice = random.next()
    if (singles.length > 0 && choice < 0.35) return this.#pair(random.pick(singles))
    if (this.#corpus.length > 0 && choice < 0.6) return this.#variation(random.pick(this.#corpus))
    const operations = random.next() < 0.5 ? random.pick(this.#parts.scenarios) : this.#operations()
    return this.#schedule(operations, this.#randomFaults(this.#length(operations)))
  }

  /** Adds a second fault while the operator recovers from one that reached new states. */
  #pair({ operations, faults }: Schedule): Schedule {
    const [first] = faults
    const at = (first?.at ?? 0) + 1 + this.#random.int(recoveryActions)
    const choices = this.#points.faultsAt(at)
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
      const choices = this.#points.faultsAt(1 + this.#random.int(most))
      if (choices.length > 0) faults.push(this.#random.pick(choices))
    }
    return faults
  }

  /** A random sequence of operations. */
  #operations(): Operation[] {
    const random = this.#random
    const { subjects, list: samples } = this.#parts.samples
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
