import type { KubewrightErrorCode } from './kubewright-error.ts'

/** The codes of the errors that this package throws, with their meanings. */
export const baseErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_CLOCK_BUSY: 'VirtualClock: an advance was requested while another one was in progress.',
  KW_CLOCK_HOT_LOOP:
    'VirtualClock: too many timers ran without time passing; the message names the label of the last one.',
  KW_CLOCK_NOT_IDLE: 'VirtualClock.runUntilIdle: timers were still pending after the maximum number of timers ran.',
  KW_DEADLINE_EXCEEDED: 'An operation exceeded its time limit.',
  KW_DEFECT: 'Kubewright reached a state that no input should cause.',
  KW_PROTOBUF: 'Bytes are not a valid protobuf message.',
  KW_QUEUE_CLOSED: 'An item was added to a closed queue, or taken from one that is closed and empty.',
  KW_USAGE: 'A program was called with invalid flags, arguments or environment variables; the message names the fix.',
})
