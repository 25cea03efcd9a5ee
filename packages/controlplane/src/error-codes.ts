import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that this package throws, with their explanations. */
export const controlplaneErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_PLANE_FOLDER: 'A folder for the objects or the keys of a control plane cannot be written to.',
  KW_CONTROLLER_UNKNOWN:
    'The option that selects built-in controllers contains unknown names; the message lists the valid ones.',
})
