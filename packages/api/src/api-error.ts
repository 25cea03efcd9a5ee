import { KubewrightError } from '@kubewright/base'
import {
  type CauseType,
  knownReasons,
  type Status,
  type StatusCause,
  type StatusDetails,
  type StatusReason,
} from './status.ts'

// Registered, so that guards recognise errors of every loaded copy of this package.
const brand: unique symbol = Symbol.for('kubewright.api-error')

/**
 * A request that the API server refused, with the Status it answered. Clients throw it; inside the server verbs throw it and it
 * becomes the response body in one place. Tell failures apart with the guards (`isNotFound(error)`), not with `instanceof`.
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

  /** Why, for programs; the empty string when the server did not say. */
  get reason(): StatusReason {
    return this.status.reason ?? ''
  }

  /** The HTTP status code, or 0 when the server did not say. */
  get statusCode(): number {
    return this.status.code ?? 0
  }

  /** What the failure is about. */
  get details(): StatusDetails {
    return this.status.details ?? {}
  }

  /** The single causes, such as one for every invalid field. */
  get causes(): readonly StatusCause[] {
    return this.status.details?.causes ?? []
  }
}

/** Whether `error` is an {@link ApiError} of any loaded copy of this package. */
export function isApiError(error: unknown): error is ApiError {
  return typeof error === 'object' && error !== null && brand in error
}

// As errors.As in Go: an API error that was wrapped (as `cause`) still counts.
function apiErrorIn(error: unknown): ApiError | undefined {
  for (let depth = 0; depth < 16 && error instanceof Error; depth++) {
    if (isApiError(error)) return error
    error = error.cause
  }
  return isApiError(error) ? error : undefined
}

/** The reason of an API error, also of a wrapped one; the empty string for anything else. */
export function reasonOf(error: unknown): StatusReason {
  return apiErrorIn(error)?.reason ?? ''
}

function hasReason(error: unknown, reason: StatusReason, code?: number, codeAlone = false): boolean {
  const found = apiErrorIn(error)
  if (found === undefined) return false
  if (found.reason === reason) return true
  // A reason that is not known says nothing, so the code decides.
  return found.statusCode === code && (codeAlone || !knownReasons.has(found.reason))
}

/** The object, or the resource type itself, does not exist. */
export const isNotFound = (error: unknown): boolean => hasReason(error, 'NotFound', 404)
/** An object of that name exists. */
export const isAlreadyExists = (error: unknown): boolean => hasReason(error, 'AlreadyExists')
/** The object changed since it was read, or another field manager owns a field. Read again and retry. */
export const isConflict = (error: unknown): boolean => hasReason(error, 'Conflict', 409)
/** The object breaks a rule; `causes` name the fields. */
export const isInvalid = (error: unknown): boolean => hasReason(error, 'Invalid', 422)
/** The item is gone at the server and no forwarding address is known. */
export const isGone = (error: unknown): boolean => hasReason(error, 'Gone', 410)
/** The requested version or list continuation is too old. List again. */
export const isResourceExpired = (error: unknown): boolean => hasReason(error, 'Expired')
/** The server has no representation that the client accepts. */
export const isNotAcceptable = (error: unknown): boolean => hasReason(error, 'NotAcceptable', 406)
/** The server does not read the format that the client sent. */
export const isUnsupportedMediaType = (error: unknown): boolean => hasReason(error, 'UnsupportedMediaType', 415)
/** The resource does not know the verb. */
export const isMethodNotSupported = (error: unknown): boolean => hasReason(error, 'MethodNotAllowed', 405)
/** The server is not able to answer now. */
export const isServiceUnavailable = (error: unknown): boolean => hasReason(error, 'ServiceUnavailable', 503)
/** The request makes no sense. */
export const isBadRequest = (error: unknown): boolean => hasReason(error, 'BadRequest', 400)
/** The client is not known: missing or wrong credentials. */
export const isUnauthorized = (error: unknown): boolean => hasReason(error, 'Unauthorized', 401)
/** The client is known and not allowed to do this. */
export const isForbidden = (error: unknown): boolean => hasReason(error, 'Forbidden', 403)
/** The request took too long; it may still be carried out. */
export const isTimeout = (error: unknown): boolean => hasReason(error, 'Timeout', 504)
/** The server cannot do this at the moment; try again after the suggested delay. */
export const isServerTimeout = (error: unknown): boolean => hasReason(error, 'ServerTimeout')
/** The server failed. */
export const isInternalError = (error: unknown): boolean => hasReason(error, 'InternalError', 500)
/** The client is too fast. */
export const isTooManyRequests = (error: unknown): boolean => hasReason(error, 'TooManyRequests', 429, true)
/** The request body is too large. */
export const isRequestEntityTooLarge = (error: unknown): boolean => hasReason(error, 'RequestEntityTooLarge', 413, true)
/** The server could not read the object from its store. */
export const isStoreReadError = (error: unknown): boolean => hasReason(error, 'StorageReadError')
/** The answer came from something that does not speak the Kubernetes API, such as a proxy. */
export const isUnexpectedServerError = (error: unknown): boolean =>
  findCause(error, 'UnexpectedServerResponse') !== undefined

/** The first cause of the given type, or undefined. */
export function findCause(error: unknown, type: CauseType): StatusCause | undefined {
  return apiErrorIn(error)?.causes.find((cause) => cause.reason === type)
}

/** How many seconds the server asks to wait before a retry; undefined when it does not ask. */
export function suggestedDelaySeconds(error: unknown): number | undefined {
  const details = apiErrorIn(error)?.status.details
  if (details === undefined) return undefined
  const seconds = details.retryAfterSeconds ?? 0
  return seconds > 0 || reasonOf(error) === 'ServerTimeout' ? seconds : undefined
}
