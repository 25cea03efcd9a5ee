import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that this package throws, and what each means. */
export const controlplaneErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_CONTROLLER_UNKNOWN:
    'A control plane was to run built-in controllers that do not exist; the message has the names that do.',
})
