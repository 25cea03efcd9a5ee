import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that this package throws, with their explanations. */
export const simulatorErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_SIMULATION: 'A simulated operator violated a property; the message is the story of the failure.',
  KW_SIMULATION_FAULT: 'A kind of fault is defined twice, or a kind or class of faults is not defined.',
  KW_SIMULATION_NONDETERMINISTIC:
    'Two runs of the same schedule differ: the operator depends on something that the simulation does not control.',
  KW_SIMULATION_REPLAY: 'The ID of the schedule to replay is not valid.',
  KW_SIMULATION_SAMPLES:
    'There is no object to simulate the operator with: pass samples of the kinds that it controls.',
})
