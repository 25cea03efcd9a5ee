// Simulation of operators. Needs @kubewright/simulator, which production images do not contain.
export {
  explore,
  type FaultClass,
  type Invariant,
  type OperatorFactory,
  type ProcessHost,
  type ProcessSpec,
  type RunningProcess,
  type SimulateOptions,
  SimulationError,
  type SimulationFailure,
  type SimulationReport,
  simulate,
  type TimelineEntry,
  type Violation,
} from '@kubewright/simulator'
