import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that this package throws, and what each means. */
export const runtimeErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_ACCESS: 'The operator lacks rights that its definition needs; the message names them and how to grant them.',
  KW_CACHE_NOT_SYNCED:
    'Watched objects did not arrive in time; the message names each watch that has none yet, why, and what to do.',
  KW_CHANNEL_FULL: 'More keys were pushed into a channel source than it keeps while no controller has started it.',
  KW_CHILD:
    'A child cannot be applied as it is: its kind, its name or its namespace is in the way, as the message says.',
  KW_CONTROLLER_RUNNING: 'A controller was told to work while it was working, or after it was disposed.',
  KW_CERTIFICATE: 'The certificate of a server cannot be read or kept; the message names where it should be.',
  KW_CONVERSION: 'A conversion between the versions of a kind loses something; the message has the smallest example.',
  KW_LEADERSHIP_LOST: 'A manager could not renew its lease in time, and ends because another replica may lead now.',
  KW_LISTEN: 'An address to serve at could not be had; the message names it, why, and the option that changes it.',
  KW_MANAGER_STARTED: 'A manager was started twice: each can be run once.',
  KW_MANAGER_STOPPED: 'Something was added to a manager that is stopping or has stopped.',
  KW_NO_STATUS: 'A reconcile returned a status for an object of a kind that has no status subresource.',
  KW_NOT_LEADER: 'A write was refused because this process does not lead, or may no longer lead; nothing was sent.',
  KW_NOT_OUR_CHILD:
    'A child was to be applied whose name is taken by an object that somebody else controls, or nobody.',
  KW_PART_FAILED: 'A part of a manager failed for good, which ended the manager; the cause says why.',
  KW_RETRY_LATER: 'Thrown by a reconcile to be repeated after a given time, without counting as a failure.',
  KW_SOURCE_FAILED: 'A source of a controller could not be started, or ended before it had synced; the cause says why.',
  KW_STOP_TIMEOUT: 'A manager was told to stop, and some of its parts did not end in time; the message names them.',
  KW_TERMINAL: 'Thrown by a reconcile for a failure that repeating cannot mend: it waits for a change instead.',
})
