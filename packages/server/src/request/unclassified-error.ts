import { ApiError } from '@kubewright/api'

/** A 500 without reason and details, which kube-apiserver sends for errors that it does not classify, such as those of its storage. */
export function unclassifiedError(message: string): ApiError {
  return new ApiError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 })
}
