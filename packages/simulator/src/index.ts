export type { ProcessHost, ProcessSpec, RunningProcess } from '@kubewright/controllers'
export {
  defineFault,
  type Fault,
  type FaultConsequence,
  type FaultContext,
  type FaultDefinition,
  type FaultFacts,
  type FaultPlace,
  type Injection,
} from './define/define-fault.ts'
export { type FaultClass, faultClasses } from './define/fault-classes.ts'
export type {
  Child,
  FaultCluster,
  FaultNetwork,
  FaultProcess,
  RefusableRequest,
  Refusal,
  ServerAnswer,
} from './define/fault-levers.ts'
export type { Answer, EndedCluster, Observer, SentWrite, UserAttempt } from './define/observer.ts'
export type { RequestFacts } from './define/request-facts.ts'
export type { SimulatedState, TimelineEntry } from './define/timeline.ts'
export type { Violation } from './define/violation.ts'
export { simulatorErrorCodes } from './error-codes.ts'
export { builtinFaults } from './faults/builtin-faults.ts'
export type { SimulateOptions } from './options.ts'
export { builtinOracles } from './oracles/builtin-oracles.ts'
export {
  defineOracle,
  type ObservingOracle,
  type OracleDefinition,
  type ReferenceOracle,
  type ReportViolation,
  type Rerun,
  type RerunOracle,
  type RunOracle,
} from './oracles/define-oracle.ts'
export type { Invariant } from './oracles/invariants.ts'
export { reportPage } from './report/report-page.ts'
export type { SimulationFailure, SimulationProgress, SimulationReport } from './report/simulation-report.ts'
export { explore, SimulationError, simulate } from './simulate.ts'
export type { Run } from './world/run-schedule.ts'
export type { OperatorFactory, RunOptions } from './world/setup.ts'
export type { ObservedRun } from './world/world.ts'
