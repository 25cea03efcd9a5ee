import type { Duration, Seed } from '@kubewright/base'
import type { FaultDefinition } from './define/define-fault.ts'
import type { FaultClass } from './define/fault-classes.ts'
import type { OracleDefinition } from './oracles/define-oracle.ts'
import type { Invariant } from './oracles/invariants.ts'
import type { SimulationProgress } from './report/simulation-report.ts'
import type { RunOptions } from './world/setup.ts'

/** Options of {@link simulate}. */
export interface SimulateOptions<World = unknown> extends RunOptions<World> {
  /** Properties of the cluster that must hold. @default none */
  readonly invariants?: readonly Invariant<World>[] | undefined
  /** The number of schedules. @default 500, or no limit with `for` */
  readonly schedules?: number | undefined
  /** How long to search, in real time. @default no limit */
  readonly for?: Duration | undefined
  /** @default 1 */
  readonly seed?: Seed | undefined
  /** The classes of faults to inject. @default all */
  readonly faults?: readonly (FaultClass | (string & {}))[] | undefined
  /** Faults of your own, besides the built-in ones: see {@link defineFault}. @default none */
  readonly extraFaults?: readonly FaultDefinition[] | undefined
  /** Oracles of your own, besides the built-in ones: see {@link defineOracle}. @default none */
  readonly extraOracles?: readonly OracleDefinition[] | undefined
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
}
