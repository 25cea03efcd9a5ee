import { KubewrightError } from '@kubewright/base'
import {
  type CauseType,
  knownReasons,
  type Status,
  type StatusCause,
  type StatusDetails,
  type StatusReason,
} from './status.ts'

// Symbol.for is shared by all loaded copies of this package, so the guards recognise errors of each.
const brand: unique symbol = Symbol.for('kubewright.api-error')

/**
 * A request that the API server rejected, with the Status from the response. Clients throw it. Inside the server, verbs
 * throw it and the HTTP layer turns it into the response. Distinguish failures with the guards (`isNotFound(error)`),
 * not with `instanceof`: the guards also work for errors from another copy of this package and for errors that carry an
 * ApiError as `cause`.
 */
export class ApiError extends KubewrightError {
  readonly status: Status

  static {
    Object.defineProperty(ApiError.prototype, 'name', { value: 'ApiError', writable: true, configurable: true })
    Object.defineProperty(ApiError.prototype, brand, { value: true })
  }

  constructor(status: Status, options?: ErrorOptions) {
    super('KW_API', status.message ?? '', options)
    this.status = status
  }

  /** The machine-readable reason; empty when the response has none. */
  get reason(): StatusReason {
    return this.status.reason ?? ''
  }

  /** The HTTP status code; 0 when the response has none. */
  get statusCode(): number {
    return this.status.code ?? 0
  }

  /** Which object failed and why; empty when the response has none. */
  get details(): StatusDetails {
    return this.status.details ?? {}
  }

  /** The individual causes, for example one for each invalid field. */
  get causes(): readonly StatusCause[] {
    return this.status.details?.causes ?? []
  }
}

/** Whether `error` is an {@link ApiError} of any loaded copy of this package. */
export function isApiError(error: unknown): error is ApiError {
  return typeof error === 'object' && error !== null && brand in error
}

// As errors.As in Go: finds an API error in the chain of causes. The depth limit stops cyclic chains.
function apiErrorIn(error: unknown): ApiError | undefined {
  for (let depth = 0; depth < 16 && error instanceof Error; depth++) {
    if (isApiError(error)) return error
    error = error.cause
  }
  return isApiError(error) ? error : undefined
}

/** The reason of an API error, also when it is wrapped; empty for any other value. */
export function reasonOf(error: unknown): StatusReason {
  return apiErrorIn(error)?.reason ?? ''
}

function hasReason(error: unknown, reason: StatusReason, code?: number, codeAlone = false): boolean {
  const found = apiErrorIn(error)
  if (found === undefined) return false
  if (found.reason === reason) return true
  // An unknown reason carries no meaning, so the status code decides.
  return found.statusCode === code && (codeAlone || !knownReasons.has(found.reason))
}

/** The object or the resource type does not exist. */
export const isNotFound = (error: unknown): boolean => hasReason(error, 'NotFound', 404)
/** An object with that name already exists. */
export const isAlreadyExists = (error: unknown): boolean => hasReason(error, 'AlreadyExists')
/** The object changed since it was read, or another field manager owns a field. Read the object again and retry. */
export const isConflict = (error: unknown): boolean => hasReason(error, 'Conflict', 409)
/** The object is invalid; `causes` list the fields. */
export const isInvalid = (error: unknown): boolean => hasReason(error, 'Invalid', 422)
/** The item is permanently gone. */
export const isGone = (error: unknown): boolean => hasReason(error, 'Gone', 410)
/** The requested resource version or list continuation is too old. List again. */
export const isResourceExpired = (error: unknown): boolean => hasReason(error, 'Expired')
/** The server has no response format that the client accepts. */
export const isNotAcceptable = (error: unknown): boolean => hasReason(error, 'NotAcceptable', 406)
/** The server cannot decode the format of the request body. */
export const isUnsupportedMediaType = (error: unknown): boolean => hasReason(error, 'UnsupportedMediaType', 415)
/** The resource does not support the verb. */
export const isMethodNotSupported = (error: unknown): boolean => hasReason(error, 'MethodNotAllowed', 405)
/** The server cannot handle the request at the moment. */
export const isServiceUnavailable = (error: unknown): boolean => hasReason(error, 'ServiceUnavailable', 503)
/** The request is malformed. */
export const isBadRequest = (error: unknown): boolean => hasReason(error, 'BadRequest', 400)
/** The request has no valid credentials. */
export const isUnauthorized = (error: unknown): boolean => hasReason(error, 'Unauthorized', 401)
/** The authenticated client is not permitted to do this. */
export const isForbidden = (error: unknown): boolean => hasReason(error, 'Forbidden', 403)
/** The request timed out. The server may still complete it. */
export const isTimeout = (error: unknown): boolean => hasReason(error, 'Timeout', 504)
/** The server cannot complete the operation at the moment. Retry after the suggested delay. */
export const isServerTimeout = (error: unknown): boolean => hasReason(error, 'ServerTimeout')
/** The server failed. */
export const isInternalError = (error: unknown): boolean => hasReason(error, 'InternalError', 500)
/** The client exceeds its rate limit. */
export const isTooManyRequests = (error: unknown): boolean => hasReason(error, 'TooManyRequests', 429, true)
/** The request body is too large. */
export const isRequestEntityTooLarge = (error: unknown): boolean => hasReason(error, 'RequestEntityTooLarge', 413, true)
/** The server could not read the object from its store. */
export const isStoreReadError = (error: unknown): boolean => hasReason(error, 'StorageReadError')
/** The response came from something other than a Kubernetes API, such as a proxy. */
export const isUnexpectedServerError = (error: unknown): boolean =>
  findCause(error, 'UnexpectedServerResponse') !== undefined

/** The first cause of the given type, also of a wrapped API error, or undefined. */
export function findCause(error: unknown, type: CauseType): StatusCause | undefined {
  return apiErrorIn(error)?.causes.find((cause) => cause.reason === type)
}

/** The number of seconds that the server asks the client to wait before a retry; undefined when it suggests no delay. */
export function suggestedDelaySeconds(error: unknown): number | undefined {
  const details = apiErrorIn(error)?.status.details
  if (details === undefined) return undefined
  const seconds = details.retryAfterSeconds ?? 0
  return seconds > 0 || reasonOf(error) === 'ServerTimeout' ? seconds : undefined
}
