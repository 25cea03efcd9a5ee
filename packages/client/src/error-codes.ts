import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that this package throws, and their meaning. */
export const clientErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_CONFIG:
    'The configuration of a connection, such as a kubeconfig, is invalid. The message names the file and the field.',
  KW_CONNECTION:
    'The API server could not be reached, or the connection was lost. A write may or may not have been made.',
  KW_CREDENTIALS: 'Credentials could not be obtained, for example because an exec plugin failed.',
  KW_INDEX: 'The function of an index threw an error for an object. The message names both.',
  KW_NO_CLUSTER:
    'No cluster is configured: there is no kubeconfig, and the process does not run in a pod. The message names the files.',
  KW_NO_MATCH: 'The API server does not serve the kind or resource. Check that its CRD or APIService is installed.',
})
