import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that this package throws, and what each means. */
export const clientErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_CONFIG:
    'The configuration of a connection, such as a kubeconfig, is broken; the message names the file and the field.',
  KW_CONNECTION:
    'The API server could not be reached, or the connection broke off: a write may or may not have been made.',
  KW_CREDENTIALS: 'Credentials could not be obtained, for instance because an exec plugin failed.',
  KW_NO_MATCH: 'The API server serves no such kind or resource: is its definition installed?',
})
