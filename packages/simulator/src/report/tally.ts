import type { Schedule } from '../define/schedule.ts'
import type { Run } from '../world/run-schedule.ts'
import type { SimulationReport } from './simulation-report.ts'

/** Counts what a simulation has covered. */
export class Tally {
  schedules = 0
  #actions = 0
  readonly #depths: [number, number, number, number] = [0, 0, 0, 0]
  #requests = 0
  readonly #faults: Record<string, number> = {}
  readonly #operations: Record<string, number> = {}
  readonly #states = new Set<string>()

  /** Returns whether the run reached new states. */
  add(schedule: Schedule, { world }: Run): boolean {
    this.schedules++
    if (this.schedules === 1) this.#actions = world.faults.actions
    this.#requests += world.network.requests
    this.#depths[Math.min(3, schedule.faults.length) as 0 | 1 | 2 | 3]++
    for (const fault of world.faults.fired) count(this.#faults, world.setup.faults.classOf(fault))
    for (const { do: verb } of schedule.operations) count(this.#operations, verb)
    const before = this.#states.size
    for (const state of world.log.states) this.#states.add(state)
    return this.#states.size > before
  }

  counts(): Pick<
    SimulationReport,
    'schedules' | 'depths' | 'faults' | 'operations' | 'states' | 'actions' | 'requests'
  > {
    return {
      schedules: this.schedules,
      depths: [...this.#depths],
      faults: this.#faults,
      operations: this.#operations,
      states: this.#states.size,
      actions: this.#actions,
      requests: this.#requests,
    }
  }
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}
