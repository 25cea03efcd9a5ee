import type { Observer } from '../define/observer.ts'
import type { Schedule } from '../define/schedule.ts'
import type { Comparison } from '../fairness/fair-differences.ts'
import type { Reference } from '../fairness/reference.ts'
import type { Run } from '../world/run-schedule.ts'
import type { Setup } from '../world/setup.ts'
import type { ObservedRun } from '../world/world.ts'

/** Reports that the property does not hold. `details` are the differences that matter, one per line. */
export type ReportViolation = (message: string, details?: readonly string[]) => void

/** What the oracles that run schedules again get. */
export interface Rerun {
  readonly run: Run
  /** The expected end of the run; undefined if none is known. */
  readonly reference: Reference | undefined
  /** The schedule without faults that the reference comes from. */
  readonly referenceSchedule: Schedule | undefined
  /** Runs another schedule. With `isLong`, it is observed for 40 minutes at rest in place of 10. */
  rerun(schedule: Schedule, options?: { readonly isLong?: boolean | undefined }): Promise<Run>
}

interface OracleBase {
  /** The name in reports and in the option `without`. Several oracles may share one. */
  readonly name: string
  /** What must hold, for the documentation: a part of a sentence. */
  readonly property: string
  /**
   * Whether runs with such a violation have so many requests that few of them can be repeated: the schedule is not checked for
   * determinism, and shrunk in fewer runs. @default false
   */
  readonly isCostly?: boolean | undefined
  /** Observes a run while it happens. @default nothing */
  observe?(run: ObservedRun, report: ReportViolation): Observer
}

/** An oracle that needs a run by itself: it checks every run at its end. */
export interface RunOracle extends OracleBase {
  readonly needs: 'run'
  check(run: Run, report: ReportViolation): void
}

/** An oracle that needs a run by itself, and checks it while it happens. */
export interface ObservingOracle extends OracleBase {
  readonly needs: 'run'
  observe(run: ObservedRun, report: ReportViolation): Observer
  readonly check?: undefined
}

/**
 * An oracle that compares a run with the runs without faults that have the same final specs. It checks runs that have an expected end and
 * in which no other oracle has found a violation. The check must have no side effects: it may be repeated with a better reference.
 */
export interface ReferenceOracle extends OracleBase {
  readonly needs: 'reference'
  check(comparison: Comparison, report: ReportViolation): void
}

/** An oracle that runs other schedules when it suspects a violation. It checks runs in which no other oracle has found one. */
export interface RerunOracle extends OracleBase {
  readonly needs: 'rerun'
  check(rerun: Rerun, report: ReportViolation): Promise<void>
}

/** A property that every run must have. `needs` decides when it is checked, and what the check gets. */
export type OracleDefinition = RunOracle | ObservingOracle | ReferenceOracle | RerunOracle

/**
 * Defines an oracle, for the option `extraOracles` of `simulate`. The built-in ones are defined in the same way.
 *
 * @example
 * ```ts
 * const fewConfigMaps = defineOracle({
 *   name: 'few ConfigMaps',
 *   property: 'an object has at most three ConfigMaps',
 *   needs: 'run',
 *   check({ objects }, report) {
 *     const count = objects.filter(({ kind }) => kind === 'ConfigMap').length
 *     if (count > 3) report(`There are ${count} ConfigMaps`)
 *   },
 * })
 * ```
 */
export function defineOracle<Definition extends OracleDefinition>(definition: Definition): Definition {
  return definition
}

/** A value that each simulation has once. */
export function perSimulation<Value>(create: () => Value): (setup: Setup) => Value {
  const values = new WeakMap<Setup, Value>()
  return (setup) => {
    const value = values.get(setup) ?? create()
    values.set(setup, value)
    return value
  }
}
