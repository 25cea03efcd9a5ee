import { isJsonObject } from '@kubewright/base'
import type { FieldErrorType } from '@kubewright/schema'
import type { JsonObject } from './own-property.ts'

/** The machine-readable reasons of API failures (metav1.StatusReason); the empty string means unknown. */
export type StatusReason =
  | ''
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Gone'
  | 'Invalid'
  | 'ServerTimeout'
  | 'StorageReadError'
  | 'Timeout'
  | 'TooManyRequests'
  | 'BadRequest'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'InternalError'
  | 'Expired'
  | 'ServiceUnavailable'

/** The machine-readable causes of API failures (metav1.CauseType); servers may send others. */
export type CauseType =
  | FieldErrorType
  | 'UnexpectedServerResponse'
  | 'FieldManagerConflict'
  | 'ResourceVersionTooLarge'
  | (string & {})

/** One cause of a failure: usually one field and its problem. */
export interface StatusCause {
  readonly reason?: CauseType
  readonly message?: string
  /** The field path, such as `items[0].name`; empty when the cause is not about a field. */
  readonly field?: string
}

/** The subject of a failure. For most failures `kind` is the resource (`pods`); for Invalid it is the kind (`Pod`). */
export interface StatusDetails {
  readonly name?: string
  readonly group?: string
  readonly kind?: string
  readonly uid?: string
  readonly causes?: readonly StatusCause[]
  readonly retryAfterSeconds?: number
}

/** metav1.Status: the response body of every failed request and of some successful ones. */
export interface Status {
  readonly kind: 'Status'
  readonly apiVersion: 'v1'
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string }
  readonly status?: 'Success' | 'Failure'
  readonly message?: string
  readonly reason?: StatusReason
  readonly details?: StatusDetails
  readonly code?: number
}

/** The reasons that have a defined meaning. A Status with another reason is classified by its code alone. */
export const knownReasons: ReadonlySet<string> = new Set<StatusReason>([
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'AlreadyExists',
  'Conflict',
  'Gone',
  'Invalid',
  'ServerTimeout',
  'StorageReadError',
  'Timeout',
  'TooManyRequests',
  'BadRequest',
  'MethodNotAllowed',
  'NotAcceptable',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'InternalError',
  'Expired',
  'ServiceUnavailable',
])

/**
 * Extracts a Status from parsed JSON; undefined when the value is not a `v1` (or `meta.k8s.io/v1`) Status. Fields of
 * the wrong type are dropped, because the value comes from the network and its fields end up in messages.
 */
export function statusFromJson(json: unknown): Status | undefined {
  if (!isJsonObject(json) || json['kind'] !== 'Status') return undefined
  if (json['apiVersion'] !== 'v1' && json['apiVersion'] !== 'meta.k8s.io/v1') return undefined
  const details = detailsFromJson(json['details'])
  const metadata = isJsonObject(json['metadata']) ? json['metadata'] : {}
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: { ...textField(metadata, 'resourceVersion'), ...textField(metadata, 'continue') },
    ...(json['status'] === 'Success' || json['status'] === 'Failure' ? { status: json['status'] } : {}),
    ...textField(json, 'message'),
    // An unknown reason is kept: the guards use the code for it.
    ...(textField(json, 'reason') as { reason?: StatusReason }),
    ...(details ? { details } : {}),
    ...numberField(json, 'code'),
  }
}

function detailsFromJson(json: unknown): StatusDetails | undefined {
  if (!isJsonObject(json)) return undefined
  const causes = Array.isArray(json['causes']) ? json['causes'].filter(isJsonObject) : []
  return {
    ...textField(json, 'name'),
    ...textField(json, 'group'),
    ...textField(json, 'kind'),
    ...textField(json, 'uid'),
    ...(causes.length > 0
      ? {
          causes: causes.map((cause) => ({
            ...textField(cause, 'reason'),
            ...textField(cause, 'message'),
            ...textField(cause, 'field'),
          })),
        }
      : {}),
    ...numberField(json, 'retryAfterSeconds'),
  }
}

function textField<K extends string>(json: JsonObject, key: K): { [P in K]?: string } {
  const value = json[key]
  return (typeof value === 'string' ? { [key]: value } : {}) as { [P in K]?: string }
}

function numberField<K extends string>(json: JsonObject, key: K): { [P in K]?: number } {
  const value = json[key]
  return (typeof value === 'number' ? { [key]: value } : {}) as { [P in K]?: number }
}
