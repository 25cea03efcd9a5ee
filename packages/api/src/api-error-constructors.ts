import { defineBudget, goQuote } from '@kubewright/base'
import { aggregateText, type FieldError } from '@kubewright/schema'
import { ApiError } from './api-error.ts'
import { formatGroupKind, formatGroupResource, type GroupKind, type GroupResource } from './gvk.ts'
import type { Status, StatusCause, StatusDetails, StatusReason } from './status.ts'

/** The object does not exist. */
export function newNotFound(resource: GroupResource, name: string): ApiError {
  return failure(
    404,
    'NotFound',
    `${formatGroupResource(resource)} ${goQuote(name)} not found`,
    subjectDetails(resource, name),
  )
}

/** An object with that name already exists. */
export function newAlreadyExists(resource: GroupResource, name: string): ApiError {
  const message = `${formatGroupResource(resource)} ${goQuote(name)} already exists`
  return failure(409, 'AlreadyExists', message, subjectDetails(resource, name))
}

/** The server found no free name for `generateName`. */
export function newGenerateNameConflict(resource: GroupResource, name: string, retryAfterSeconds: number): ApiError {
  const message = `${formatGroupResource(resource)} ${goQuote(name)} already exists, the server was not able to generate a unique name for the object`
  return failure(409, 'AlreadyExists', message, { ...subjectDetails(resource, name), ...retryAfter(retryAfterSeconds) })
}

/** The request has no valid credentials. An empty `reason` becomes "not authorized". */
export function newUnauthorized(reason: string): ApiError {
  return failure(401, 'Unauthorized', reason === '' ? 'not authorized' : reason)
}

/** The authenticated client is not permitted to do this; `why` follows "is forbidden: ". */
export function newForbidden(resource: GroupResource, name: string, why: Error | string): ApiError {
  const subject =
    resource.group === '' && resource.resource === ''
      ? 'forbidden'
      : name === ''
        ? `${formatGroupResource(resource)} is forbidden`
        : `${formatGroupResource(resource)} ${goQuote(name)} is forbidden`
  return failure(403, 'Forbidden', `${subject}: ${textOf(why)}`, subjectDetails(resource, name))
}

/** The stored object is not in the state that the request assumes. */
export function newConflict(resource: GroupResource, name: string, why: Error | string): ApiError {
  const message = `Operation cannot be fulfilled on ${formatGroupResource(resource)} ${goQuote(name)}: ${textOf(why)}`
  return failure(409, 'Conflict', message, subjectDetails(resource, name))
}

/** Other field managers own fields that a server-side apply sets. */
export function newApplyConflict(causes: readonly StatusCause[], message: string): ApiError {
  return failure(409, 'Conflict', message, causes.length > 0 ? { causes } : {})
}

/** The item is permanently gone. */
export function newGone(message: string): ApiError {
  return failure(410, 'Gone', message)
}

/** The requested resource version or list continuation is too old. */
export function newResourceExpired(message: string): ApiError {
  return failure(410, 'Expired', message)
}

/** The maximum number of field errors in a response. kube-apiserver has no such limit. */
const maxFieldErrors = defineBudget(10_000, {
  group: 'server',
  what: 'field errors of a response',
  shown: '{}, and none after 1 MiB of text',
  answer: 'further errors are left out',
  kubernetes: 'no limit',
})

/** The number of characters of field errors after which a response lists no further ones. */
const maxFieldErrorText = 1024 * 1024

/**
 * The object is invalid: one cause for each field error, and a message that combines them. Errors beyond {@link maxFieldErrors} and
 * {@link maxFieldErrorText} are left out: one that quotes the whole object may occur once per item.
 */
export function newInvalid(kind: GroupKind, name: string, errors: readonly FieldError[]): ApiError {
  const causes: StatusCause[] = []
  let length = 0
  for (const error of errors) {
    if (causes.length >= maxFieldErrors || length > maxFieldErrorText) break
    const message = error.errorBody()
    length += message.length + error.field.length
    causes.push({ reason: error.type, message, ...(error.field === '' ? {} : { field: error.field }) })
  }
  const text = aggregateText(causes.length < errors.length ? errors.slice(0, causes.length) : errors)
  const message = `${formatGroupKind(kind)} ${goQuote(name)} is invalid${text === '' ? '' : `: ${text}`}`
  return failure(422, 'Invalid', message, {
    ...subjectDetails({ group: kind.group, resource: kind.kind }, name),
    ...(causes.length > 0 ? { causes } : {}),
  })
}

/** The request is malformed. */
export function newBadRequest(reason: string): ApiError {
  return failure(400, 'BadRequest', reason)
}

/** The client exceeds its rate limit and must wait `retryAfterSeconds`. */
export function newTooManyRequests(message: string, retryAfterSeconds: number): ApiError {
  return failure(429, 'TooManyRequests', message, retryAfter(retryAfterSeconds))
}

/** The client exceeds its rate limit. The message starts with "Too many requests: " and suggests no delay. */
export function newTooManyRequestsError(message: string): ApiError {
  return failure(429, 'TooManyRequests', `Too many requests: ${message}`)
}

/** The server cannot handle the request at the moment. */
export function newServiceUnavailable(reason: string): ApiError {
  return failure(503, 'ServiceUnavailable', reason)
}

/** The resource does not support the verb. */
export function newMethodNotSupported(resource: GroupResource, action: string): ApiError {
  const message = `${action} is not supported on resources of kind ${goQuote(formatGroupResource(resource))}`
  return failure(405, 'MethodNotAllowed', message, subjectDetails(resource, ''))
}

/** The server cannot complete the operation at the moment; the client may retry. */
export function newServerTimeout(resource: GroupResource, operation: string, retryAfterSeconds: number): ApiError {
  const message = `The ${operation} operation against ${formatGroupResource(resource)} could not be completed at this time, please try again.`
  return failure(500, 'ServerTimeout', message, {
    ...subjectDetails(resource, operation),
    ...retryAfter(retryAfterSeconds),
  })
}

/** The server failed. An `Error` argument becomes the `cause`. */
export function newInternalError(error: Error | string): ApiError {
  const text = textOf(error)
  const options = typeof error === 'string' ? undefined : { cause: error }
  return failure(500, 'InternalError', `Internal error occurred: ${text}`, { causes: [{ message: text }] }, options)
}

/** The request timed out. */
export function newTimeoutError(message: string, retryAfterSeconds: number): ApiError {
  return failure(504, 'Timeout', `Timeout: ${message}`, retryAfter(retryAfterSeconds))
}

/** A list or watch requested a resource version that this server has not reached yet. */
export function newTooLargeResourceVersion(wanted: string, current: string, retryAfterSeconds: number): ApiError {
  const message = `Timeout: Too large resource version: ${wanted}, current: ${current}`
  return failure(504, 'Timeout', message, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    ...retryAfter(retryAfterSeconds),
  })
}

/** The request body is too large. */
export function newRequestEntityTooLarge(message: string): ApiError {
  return failure(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`)
}

/** The server has no response format that the client accepts. */
export function newNotAcceptable(accepted: readonly string[]): ApiError {
  return failure(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`)
}

/** The server cannot decode the format of the request body. */
export function newUnsupportedMediaType(accepted: readonly string[]): ApiError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`
  return failure(415, 'UnsupportedMediaType', message)
}

/** What {@link newGenericServerResponse} uses to describe a failed request. */
export interface ServerResponseFacts {
  readonly code: number
  /** The HTTP method. */
  readonly verb: string
  readonly resource?: GroupResource | undefined
  readonly name?: string | undefined
  /** The response body, when it was not a Status. */
  readonly serverMessage?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  /** True when the response did not come from a Kubernetes API, for example from a proxy. */
  readonly isUnexpectedResponse?: boolean | undefined
}

/** The client-side error for a response without a Status; reason and message are derived from the HTTP code. */
export function newGenericServerResponse(facts: ServerResponseFacts): ApiError {
  const { code, verb, name = '', serverMessage = '' } = facts
  const resource = facts.resource ?? { group: '', resource: '' }
  let [reason, message] = genericReason(code, verb, serverMessage)
  if (resource.group !== '' || resource.resource !== '') {
    const subject = name === '' ? formatGroupResource(resource) : `${formatGroupResource(resource)} ${name}`
    message = `${message} (${verb.toLowerCase()} ${subject})`
  }
  return failure(code, reason, message, {
    ...subjectDetails(resource, name),
    ...(facts.isUnexpectedResponse
      ? {
          causes: [{ reason: 'UnexpectedServerResponse', ...(serverMessage === '' ? {} : { message: serverMessage }) }],
        }
      : {}),
    ...retryAfter(facts.retryAfterSeconds ?? 0),
  })
}

function genericReason(code: number, verb: string, serverMessage: string): [StatusReason, string] {
  switch (code) {
    case 409:
      return [verb === 'POST' ? 'AlreadyExists' : 'Conflict', 'the server reported a conflict']
    case 404:
      return ['NotFound', 'the server could not find the requested resource']
    case 400:
      return ['BadRequest', 'the server rejected our request for an unknown reason']
    case 401:
      return ['Unauthorized', 'the server has asked for the client to provide credentials']
    case 403:
      // The server's message states which user attempted which action.
      return ['Forbidden', serverMessage]
    case 406:
      return [
        'NotAcceptable',
        serverMessage === '' || serverMessage === 'unknown'
          ? 'the server was unable to respond with a content type that the client supports'
          : serverMessage,
      ]
    case 415:
      return ['UnsupportedMediaType', serverMessage]
    case 405:
      return ['MethodNotAllowed', 'the server does not allow this method on the requested resource']
    case 422:
      return ['Invalid', 'the server rejected our request due to an error in our request']
    case 503:
      return ['ServiceUnavailable', 'the server is currently unable to handle the request']
    case 504:
      return [
        'Timeout',
        'the server was unable to return a response in the time allotted, but may still be processing the request',
      ]
    case 429:
      return ['TooManyRequests', 'the server has received too many requests and has asked us to try again later']
    default:
      return code >= 500
        ? [
            'InternalError',
            `an error on the server (${goQuote(serverMessage)}) has prevented the request from succeeding`,
          ]
        : ['', `the server responded with the status code ${code} but did not return more information`]
  }
}

// Empty fields are omitted, as with Go's omitempty; an empty `details` object stays.
function subjectDetails(resource: GroupResource, name: string): StatusDetails {
  return {
    ...(name === '' ? {} : { name }),
    ...(resource.group === '' ? {} : { group: resource.group }),
    ...(resource.resource === '' ? {} : { kind: resource.resource }),
  }
}

function retryAfter(seconds: number): StatusDetails {
  return seconds === 0 ? {} : { retryAfterSeconds: seconds }
}

function textOf(why: Error | string): string {
  return typeof why === 'string' ? why : why.message
}

function failure(
  code: number,
  reason: StatusReason,
  message: string,
  details?: StatusDetails,
  options?: ErrorOptions,
): ApiError {
  const status: Status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    ...(reason === '' ? {} : { reason }),
    ...(details === undefined ? {} : { details }),
    code,
  }
  return new ApiError(status, options)
}
