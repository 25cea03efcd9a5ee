export type { ProcessHost, ProcessSpec, RunningProcess } from '@kubewright/controllers'
export { simulatorErrorCodes } from './error-codes.ts'
export { type Fault, type FaultClass, faultClasses } from './fault.ts'
export type {
  Invariant,
  OperatorFactory,
  SimulatedState,
  SimulateOptions,
  SimulationFailure,
  SimulationProgress,
  SimulationReport,
  TimelineEntry,
} from './options.ts'
export { reportPage } from './report-page.ts'
export { explore, SimulationError, simulate } from './simulate.ts'
export { type OracleName, oracleNames, type Violation } from './violation.ts'
