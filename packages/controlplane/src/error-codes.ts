import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that this package throws, with their explanations. */
export const controlplaneErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_CONTROLLER_UNKNOWN:
    'The option that selects built-in controllers contains unknown names; the message lists the valid ones.',
})
