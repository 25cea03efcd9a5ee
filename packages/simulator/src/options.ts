import type { KubeObject } from '@kubewright/api'
import type { Duration, Logger, Seed } from '@kubewright/base'
import type { ProcessHost } from '@kubewright/controllers'
import type { Operator } from '@kubewright/runtime'
import type { FaultClass } from './fault.ts'
import type { Violation } from './violation.ts'

/** A property of the cluster that the author of an operator states. */
export interface Invariant<World = unknown> {
  readonly name: string
  /**
   * `always`: after every change. `settled`: at rest, when faults have ended and no work is left. `eventually`: at least
   * once in a run.
   */
  readonly when: 'always' | 'settled' | 'eventually'
  /**
   * Returns the problem, or undefined when the property holds. `objects` are all objects that exist besides those of an
   * empty cluster.
   */
  readonly check: (objects: readonly KubeObject[], world: World) => string | undefined
}

/** Creates the operator of one process. All its calls to the outside must go through `world`. */
export type OperatorFactory<World> = (parts: { readonly world: World }) => Operator

/** Options of {@link simulate}. */
export interface SimulateOptions<World = unknown> {
  /**
   * Objects to work with. Those of kinds that the operator controls are created, changed and deleted; the others are
   * created before the operator starts. ConfigMaps and Secrets among these are deleted and restored, and changed if the
   * operator watches their kind, unless they are immutable; so are objects of other kinds that it watches. @default one generated object of each kind that the operator controls
   */
  readonly samples?: readonly object[] | undefined
  readonly invariants?: readonly Invariant<World>[] | undefined
  /** Creates the state outside the cluster, once per schedule. It survives crashes of the operator. @default none */
  readonly world?: (() => World) | undefined
  /**
   * Runs the containers of pods with the annotation `kubewright.dev/process: "true"`: the members of the system that the
   * operator manages. `world` is that of the schedule, without faults. @default the containers do nothing but report their state
   */
  readonly processes?: ((world: World) => ProcessHost) | undefined
  /** The number of schedules. @default 500, or no limit with `for` */
  readonly schedules?: number | undefined
  /** How long to search, in real time. @default no limit */
  readonly for?: Duration | undefined
  /** @default 1 */
  readonly seed?: Seed | undefined
  /** The classes of faults to inject. @default all */
  readonly faults?: readonly FaultClass[] | undefined
  /** How long requests of the operator take, in virtual time. @default ['1ms', '5ms'] */
  readonly latency?: readonly [Duration, Duration] | undefined
  /** The number of replicas in schedules about leader election. @default 2 if the operator elects a leader, else 1 */
  readonly replicas?: number | undefined
  /** Paths of fields and kinds that are not compared, such as `status.lastBackup` and `Backup`. @default none */
  readonly ignore?: readonly string[] | undefined
  /**
   * Whether the operator leaves the children of such an object as they are, for example while it is paused. The end state is
   * not compared then, because it depends on the earlier forms of the object. @default a field such as `paused` or `suspend`
   * is true
   */
  readonly isHeld?: ((object: KubeObject) => boolean) | undefined
  /** The names of oracles that are not checked. @default none */
  readonly without?: readonly string[] | undefined
  /** The maximum number of writes to one object within ten minutes at rest. @default 60 */
  readonly writesAtRest?: number | undefined
  /** The maximum number of requests of the operator in one schedule. @default 3000 */
  readonly maxRequests?: number | undefined
  /** A file of failing schedules, which run first. New failures are added. @default none */
  readonly regressions?: string | undefined
  /** Runs one schedule only: the ID that a failed simulation printed. @default none */
  readonly replay?: string | undefined
  /**
   * Stops in the debugger right before the faults of the failing schedule. Requires a debugger that is attached to this
   * process. @default false
   */
  readonly inspect?: boolean | undefined
  /** Records the states of all objects in the failing schedule: see {@link SimulationFailure.states}. @default false */
  readonly record?: boolean | undefined
  /** Explores one of several parts, to share the work between processes. @default everything */
  readonly shard?: { readonly index: number; readonly of: number } | undefined
  /** Called after each schedule. */
  readonly onProgress?: ((progress: SimulationProgress) => void) | undefined
  /** Receives the log lines of the operator. @default none */
  readonly log?: Logger | undefined
}

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
  /**
   * The single faults at the actions of the scenarios that ran without faults: how many of them were tried, and how many
   * there are.
   */
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

/** A state of an object in a simulation. */
export interface SimulatedState {
  /** Milliseconds of virtual time since the start. */
  readonly time: number
  /** The object; its last state if it was deleted. */
  readonly object: KubeObject
  readonly isDeleted: boolean
}

/** One line of a story. */
export interface TimelineEntry {
  /** Milliseconds of virtual time since the start. */
  readonly time: number
  readonly actor: 'user' | 'operator' | 'cluster' | 'fault' | 'oracle'
  readonly text: string
  /** The line of the operator's source that sent the request. */
  readonly source?: string | undefined
}
