import { ApiError } from '@kubewright/api'

/** A failure that the server gives no reason for, such as an error of its storage: only the text and code 500. */
export function unclassifiedError(message: string): ApiError {
  return new ApiError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 })
}
