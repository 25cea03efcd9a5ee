import type { Seed } from '@kubewright/base'
import type { SimulatedState, TimelineEntry } from '../define/timeline.ts'
import type { Violation } from '../define/violation.ts'

/** The state of a simulation in progress. */
export interface SimulationProgress {
  readonly schedules: number
  /** The number of schedules to run, if it is known. */
  readonly of: number | undefined
}

/** The result of a simulation. */
export interface SimulationReport {
  readonly seed: Seed
  readonly schedules: number
  /** The number of runs: schedules, references without faults, and attempts to shrink a failure. */
  readonly runs: number
  /** How often each class of faults was injected. */
  readonly faults: Readonly<Record<string, number>>
  /** How often each operation was performed. */
  readonly operations: Readonly<Record<string, number>>
  /** The number of distinct states of objects that were reached. */
  readonly states: number
  /** The single faults at the actions of the scenarios that ran without faults: how many of them were tried, and how many there are. */
  readonly points: { readonly tried: number; readonly known: number }
  /** How many schedules had no fault, one, two, and more. */
  readonly depths: readonly [none: number, one: number, two: number, more: number]
  /** The number of actions of the operator in the first run without faults. */
  readonly actions: number
  /** The number of reads and writes of the operator in all schedules. */
  readonly requests: number
  /** A hash of all histories. Equal for equal operators, options and seeds. */
  readonly hash: string
  /** Code of the operator that used real time or randomness. It ran on the virtual clock and with seeded randomness. */
  readonly nondeterminism: readonly string[]
  /** Facts that make the result less meaningful, such as a sample that does not become ready without faults. */
  readonly warnings: readonly string[]
  readonly failure: SimulationFailure | undefined
}

/** A failing schedule after shrinking. */
export interface SimulationFailure {
  readonly violation: Violation
  /** Pass it as `replay`. */
  readonly id: string
  /** The timeline, in sentences. */
  readonly story: string
  readonly timeline: readonly TimelineEntry[]
  readonly faults: number
  readonly operations: number
  /** The hash of the history of the shrunk schedule. */
  readonly hash: string
  /** The states of all objects of the failing schedule in order, if the option `record` is on. */
  readonly states?: readonly SimulatedState[] | undefined
  /** The wall time of the start of virtual time, in milliseconds since the epoch. */
  readonly startedAt: number
}
