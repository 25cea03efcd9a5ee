import type { KubewrightErrorCode } from './kubewright-error.ts'

/** The codes of the errors that this package throws, and what each means. */
export const baseErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_CLOCK_BUSY: 'A virtual clock was told to advance while an advance was in progress.',
  KW_CLOCK_NOT_IDLE: 'A virtual clock was told to run until idle, and timers kept being added.',
  KW_DEADLINE_EXCEEDED: 'Something took longer than it was given.',
  KW_QUEUE_CLOSED: 'An item was added to a closed queue, or taken from one that is closed and empty.',
})
