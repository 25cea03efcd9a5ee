import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that this package throws, and their meanings. */
export const runtimeErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_ACCESS: 'The operator lacks permissions. The message names them and how to grant them.',
  KW_CACHE_NOT_SYNCED:
    'An initial list did not arrive in time. The message names each missing list, its problem and the fix.',
  KW_CHANNEL_FULL: 'More keys were pushed into a channel source than it buffers before a controller starts it.',
  KW_CHILD: 'A child cannot be applied because of its kind, name or namespace. The message names the reason.',
  KW_CONTROLLER_RUNNING: 'A controller was run while it was running, or after it was disposed.',
  KW_CERTIFICATE: 'The certificate of a server cannot be read or stored. The message names the files or the Secret.',
  KW_CONVERSION:
    'A conversion between the versions of a kind is not lossless. The message contains the smallest example.',
  KW_HANDLED_TOO_LARGE:
    'The values that the handlers of an object have handled exceed the size of an annotation. Use handlers of smaller fields.',
  KW_LEADERSHIP_LOST: 'A manager could not renew its lease in time and ended, because another replica may lead now.',
  KW_LISTEN:
    'A server cannot listen on its address. The message names the address, the reason and the flag to change it.',
  KW_MANAGER_STARTED: 'A manager was started twice. Each manager can be started once.',
  KW_MANAGER_STOPPED: 'A part was added to a manager that is stopping or has stopped.',
  KW_NO_STATUS: 'A reconcile returned a status for a kind without a status subresource.',
  KW_NOT_AWAITED: 'A reconcile returned while it still applied a child. The message names the child: await its apply.',
  KW_NOT_LEADER: 'A write was rejected because this process does not lead, or may no longer lead. Nothing was sent.',
  KW_NOT_OUR_CHILD: 'A child cannot be applied because an object with its name has another controller, or none.',
  KW_PART_FAILED: 'A part of a manager failed, which ended the manager. The cause is the error of the part.',
  KW_RECONCILE: 'Thrown by a reconcile that failed, with the status to write. The object is retried with back-off.',
  KW_RETRY_LATER: 'Thrown by a reconcile to request a retry after a given delay. Does not count as a failure.',
  KW_SOURCE_FAILED: 'A source of a controller did not start, or failed before it had synced. The cause is its error.',
  KW_STOP_TIMEOUT: 'A manager was stopped and some of its parts did not end in time. The message names them.',
  KW_TERMINAL:
    'Thrown by a reconcile for a failure that a retry cannot fix. The object is reconciled again when it changes.',
  KW_WEBHOOK_REGISTRATION:
    'A process outside the cluster lacks the permission to register its webhooks. The message names the fix.',
})
