import type { KubewrightErrorCode } from '@kubewright/base'

/** The codes of the errors that this package throws, and their meanings. Error responses are `ApiError`s. */
export const serverErrorCodes: Readonly<Record<KubewrightErrorCode, string>> = Object.freeze({
  KW_IDENTITY: 'The keys or certificates of a server cannot be used. The message names the problem.',
  KW_SERVER_CONFIG: 'A configuration file or an option of the server is invalid. The message is that of Kubernetes.',
})
