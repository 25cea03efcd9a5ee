import type { JSONSchemaProps } from '@kubewright/schema'
import type { FieldSet } from '../fieldset/field-set.ts'
import type { FieldSetFilter } from '../fieldset/field-set-filter.ts'
import type { JsonObject } from '../own-property.ts'

/** Describes the kind and endpoint of a field manager. */
export interface FieldManagerOptions {
  /** The version of the endpoint, such as `apps/v1`. Arguments and results are objects of this version. */
  readonly apiVersion: string
  readonly kind: string
  /**
   * The subresource of the endpoint. Its writers are different managers from those of the object itself, and requests
   * to it cannot set managedFields. @default ''
   */
  readonly subresource?: string | undefined
  /**
   * The schema of a version. Null when types are deduced because there is no schema; undefined when there is no such
   * version.
   */
  schemaFor(apiVersion: string): JSONSchemaProps | null | undefined
  /**
   * Converts an object to another version; undefined when that version no longer exists. @default only the endpoint's
   * version exists
   */
  convert?(object: JsonObject, apiVersion: string): JsonObject | undefined
  /** The fields of a version that this endpoint never changes: writing them does not own them, and leaving them out does not disown them. @default none */
  readonly resetFields?: ((apiVersion: string) => FieldSet | FieldSetFilter | undefined) | undefined
  /** The object before anything is set, see `zeroObject`. @default only apiVersion and kind */
  readonly emptyObject?: JsonObject | undefined
  /** @default 10, as in Kubernetes */
  readonly maxUpdateManagers?: number | undefined
}

/** The manager and the time of an update. */
export interface UpdateFieldsOptions {
  readonly manager: string
  /** The current time in the API's format: `2026-01-02T03:04:05Z`. */
  readonly now: string
}

/** The manager and the time of an apply, and whether it takes over conflicting fields of other managers. */
export interface ApplyFieldsOptions extends UpdateFieldsOptions {
  /** @default false */
  readonly force?: boolean | undefined
}

/** The outcome of an apply. */
export interface ApplyFieldsResult {
  /** The merged object with its managedFields. Defaults are not filled in. */
  readonly object: JsonObject
  /**
   * False when neither the object nor the ownership changed. Nothing needs to be written then, and no timestamp
   * changed.
   */
  readonly changed: boolean
  /** False when the live object has all values already: only the ownership may have changed. */
  readonly merged: boolean
}

/**
 * Tracks the field ownership of the objects of one endpoint. Never modifies its arguments; results share structure with
 * them, so callers must treat both as immutable.
 */
export interface FieldManager {
  /**
   * Merges the configuration into the live object (undefined for a create). Throws ApiError Conflict, with one cause
   * per field, when other managers own fields that it changes; ApiError BadRequest when the configuration is of another
   * kind or version; and `ApplyError` when it does not match the schema.
   */
  apply(live: JsonObject | undefined, config: JsonObject, options: ApplyFieldsOptions): ApplyFieldsResult
  /** The new object with managedFields derived from its difference to the live object (undefined for a create). */
  update(live: JsonObject | undefined, next: JsonObject, options: UpdateFieldsOptions): JsonObject
  /**
   * Like update, but returns an object whose fields cannot be tracked without managedFields, because tracking must not
   * fail a write.
   */
  updateNoErrors(live: JsonObject | undefined, next: JsonObject, options: UpdateFieldsOptions): JsonObject
}
