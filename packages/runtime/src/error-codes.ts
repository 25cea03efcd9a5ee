import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that this package throws, and what each means. */
export const runtimeErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_LEADERSHIP_LOST: 'A manager could not renew its lease in time, and ends because another replica may lead now.',
  KW_MANAGER_STARTED: 'A manager was started twice: each can be run once.',
  KW_MANAGER_STOPPED: 'Something was added to a manager that is stopping or has stopped.',
  KW_NOT_LEADER: 'A write was refused because this process does not lead, or may no longer lead; nothing was sent.',
  KW_PART_FAILED: 'A part of a manager failed for good, which ended the manager; the cause says why.',
  KW_STOP_TIMEOUT: 'A manager was told to stop, and some of its parts did not end in time; the message names them.',
})
