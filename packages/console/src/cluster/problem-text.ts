import { isApiError } from '@kubewright/api'

/** Describes a failed request to the cluster for the user. */
export function problemText(error: unknown): string {
  if (isApiError(error)) {
    const { statusCode, message } = error
    return statusCode === 401 ? `${message}: the credentials of this console have expired, start it again` : message
  }
  return error instanceof Error ? error.message : String(error)
}
