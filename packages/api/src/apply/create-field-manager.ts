import { isJsonObject, textOf } from '@kubewright/base'
import { newBadRequest } from '../api-error-constructors.ts'
import { FieldSet } from '../fieldset/field-set.ts'
import { excludeFields, type FieldSetFilter } from '../fieldset/field-set-filter.ts'
import { fieldSetPath } from '../fieldset/path-element.ts'
import { formatGroupVersionKind, type GroupVersionKind, parseGroupVersion } from '../gvk.ts'
import type { ManagedFieldsEntry } from '../object-meta.ts'
import { getOwn, type JsonObject } from '../own-property.ts'
import { ApplyError } from './apply-error.ts'
import { capUpdateManagers, defaultMaxUpdateManagers } from './cap-managers.ts'
import { ApplyConflicts } from './conflict.ts'
import type {
  ApplyFieldsOptions,
  ApplyFieldsResult,
  FieldManager,
  FieldManagerOptions,
  UpdateFieldsOptions,
} from './field-manager.ts'
import { fieldsFromLastApplied, lastAppliedOf, withLastApplied } from './last-applied.ts'
import {
  decodeManagedFields,
  emptyManaged,
  encodeManagedFields,
  type Managed,
  managerIdentifier,
  type VersionedSet,
} from './managed-fields.ts'
import {
  isBlank,
  managedFieldsOf,
  metadataOf,
  withManagedFields,
  withNulls,
  withoutManagedFields,
} from './managed-object.ts'
import { ObjectVersions, type TypedValue } from './object-versions.ts'
import { type AppliedConfig, applyConfig, trackUpdate } from './track-ownership.ts'
import { objectTypeOf, type TypeNode } from './type-node.ts'
import { TypedValueError, validateTyped } from './validate-typed.ts'

/** Creates the field manager of an endpoint. It caches types derived from the schemas, so reuse it. */
export function createFieldManager(options: FieldManagerOptions): FieldManager {
  const endpoint = new EndpointFieldManager(options)
  return {
    apply: (live, config, applyOptions) => endpoint.apply(live, config, applyOptions),
    update: (live, next, updateOptions) => endpoint.update(live, next, updateOptions),
    updateNoErrors: (live, next, updateOptions) => {
      try {
        return endpoint.update(live, next, updateOptions)
      } catch {
        return withoutManagedFields(next)
      }
    },
  }
}

// Fields that the server sets, and fields that identify the object, are never owned (managedfields/internal/stripmeta.go).
const neverOwned = FieldSet.of(
  fieldSetPath('apiVersion'),
  fieldSetPath('kind'),
  fieldSetPath('metadata'),
  ...[
    'name',
    'namespace',
    'creationTimestamp',
    'selfLink',
    'uid',
    'clusterName',
    'generation',
    'managedFields',
    'resourceVersion',
  ].map((name) => fieldSetPath('metadata', name)),
)

const beforeFirstApply = 'before-first-apply'

/** The manager name whose applies migrate fields from client-side apply. */
const kubectl = 'kubectl'

class EndpointFieldManager {
  readonly #options: FieldManagerOptions
  readonly #gvk: GroupVersionKind
  readonly #types = new Map<string, TypeNode | undefined>()
  readonly #filters = new Map<string, FieldSetFilter | undefined>()
  readonly #empty: JsonObject

  constructor(options: FieldManagerOptions) {
    const { apiVersion, kind } = options
    this.#options = options
    this.#gvk = { ...parseGroupVersion(apiVersion), kind }
    this.#empty = options.emptyObject ?? { apiVersion, kind }
  }

  update(liveOrNone: JsonObject | undefined, next: JsonObject, { manager, now }: UpdateFieldsOptions): JsonObject {
    const live = liveOrNone ?? this.#empty
    const managed = this.#decodeLiveOrNew(live, next)
    // An object without managedFields stays untracked until the next apply.
    if (managed.fields.size === 0 && metadataOf(live)['uid']) return withManagedFields(next, undefined)
    const tracked = this.#track(live, next, managed, manager, now)
    return withManagedFields(next, encodeManagedFields(tracked))
  }

  apply(
    liveOrNone: JsonObject | undefined,
    config: JsonObject,
    { manager, now, force = false }: ApplyFieldsOptions,
  ): ApplyFieldsResult {
    const live = liveOrNone ?? this.#empty
    const before = this.#decodeLive(live)
    const gvk = gvkOfConfig(config)
    if (formatGroupVersionKind(gvk) !== formatGroupVersionKind(this.#gvk)) {
      throw newBadRequest(`invalid object type: ${formatGroupVersionKind(gvk)}`)
    }
    const bare = withManagedFields(live, undefined)
    const started = before.fields.size === 0 ? this.#startTracking(bare, now) : before
    const merged = this.#applyFrom(live, bare, config, started, manager, force)
    const result =
      manager === kubectl && lastAppliedOf(merged.object) ? withLastApplied(merged.object, config) : merged.object
    // The annotation is maintained by the server, so its update does not count as a change of the applier.
    if (merged.object !== bare) merged.managed.times.set(merged.identifier, now)
    const changed = liveOrNone === undefined || result !== bare || !sameOwners(before, merged.managed)
    return {
      object: withManagedFields(result, encodeManagedFields(merged.managed)),
      changed,
      merged: liveOrNone === undefined || result !== bare,
    }
  }

  /** Attributes the fields of an object without managedFields to the manager `before-first-apply`. */
  #startTracking(live: JsonObject, now: string): Managed {
    try {
      return this.#track(this.#empty, live, emptyManaged(), beforeFirstApply, now)
    } catch (error) {
      const message = `failed to create manager for existing fields: ${(error as Error).message}`
      throw error instanceof ApplyError ? new ApplyError(message, { cause: error }) : error
    }
  }

  #applyFrom(
    live: JsonObject,
    bare: JsonObject,
    config: JsonObject,
    managed: Managed,
    manager: string,
    force: boolean,
  ): { object: JsonObject; managed: Managed; identifier: string } {
    try {
      return this.#merge(bare, config, managed, manager, force)
    } catch (error) {
      if (!(error instanceof ApplyConflicts)) throw error
      if (manager !== kubectl) throw error.toApiError()
      // When migrating from client-side apply, kubectl may keep the fields that it set there.
      const allowed = fieldsFromLastApplied(this.#ownType(), live, this.#options.apiVersion)
      if (allowed === undefined) throw error.toApiError()
      const conflicts = error.conflicts.filter(({ path }) => !allowed.has(path))
      if (conflicts.length > 0) throw new ApplyConflicts(conflicts).toApiError()
      return this.#merge(bare, config, managed, manager, true)
    }
  }

  #merge(
    live: JsonObject,
    config: JsonObject,
    managed: Managed,
    manager: string,
    force: boolean,
  ): { object: JsonObject; managed: Managed; identifier: string } {
    if (Array.isArray(metadataOf(config)['managedFields'])) throw newBadRequest('metadata.managedFields must be nil')
    const type = this.#ownType()
    const typedConfig = this.#typed(type, config, false, 'failed to create typed patch object', config)
    const typedLive = this.#typed(type, live, true, 'failed to create typed live object', live)
    const identifier = this.#identify(manager, 'Apply')
    const request = { live: typedLive, config: typedConfig, managers: managed.fields, manager: identifier, force }
    const { value, managers } = explained(() => applyConfig(this.#versions(), request))
    strip(managers, identifier)
    keepEqualSet(managers, managed.fields, identifier)
    return { object: value as JsonObject, managed: { fields: managers, times: new Map(managed.times) }, identifier }
  }

  /** The managers after an update. The entry of `manager` changes, and its time advances, only when it changed a field. */
  #track(live: JsonObject, next: JsonObject, managed: Managed, manager: string, now: string): Managed {
    const type = this.#ownType()
    const bareNext = withManagedFields(next, undefined)
    const typedNext = this.#typed(type, bareNext, true, 'failed to convert new object', next, ' to smd typed')
    const bareLive =
      this.#options.emptyObject && live === this.#empty ? withNulls(live, bareNext) : withManagedFields(live, undefined)
    const typedLive = this.#typed(type, bareLive, true, 'failed to convert live object', live, ' to smd typed')
    const { managers, written } = trackUpdate(this.#versions(), typedLive, typedNext, managed.fields)
    const times = new Map(managed.times)
    const own = written.difference(neverOwned)
    if (!own.isEmpty) {
      const identifier = this.#identify(manager, 'Update')
      const set = own.union(managers.get(identifier)?.set ?? FieldSet.empty)
      managers.set(identifier, { set, apiVersion: this.#options.apiVersion, applied: false })
      keepEqualSet(managers, managed.fields, identifier)
      times.set(identifier, now)
    }
    const result = { fields: managers, times }
    capUpdateManagers(result, this.#options.maxUpdateManagers ?? defaultMaxUpdateManagers)
    return result
  }

  #identify(manager: string, operation: 'Apply' | 'Update'): string {
    const { apiVersion, subresource = '' } = this.#options
    return managerIdentifier({ manager: manager || 'unknown', operation, apiVersion, subresource })
  }

  #decodeLive(live: JsonObject): Managed {
    try {
      return decodeManagedFields(managedFieldsOf(live), true)
    } catch (error) {
      throw new ApplyError(`failed to decode managed fields: ${(error as Error).message}`, { cause: error })
    }
  }

  /**
   * The managedFields to start a write from: those in the request, which may edit them, if valid; else those of the
   * live object.
   */
  #decodeLiveOrNew(live: JsonObject, next: JsonObject): Managed {
    if (!this.#options.subresource) {
      const given = managedFieldsOf(next)
      if (given && (given.length === 0 || (given.length === 1 && isBlank(given[0])))) return emptyManaged()
      const managed = decodeOrNothing(given)
      // Clients that do not know managedFields omit them, which must not erase them.
      if (managed.fields.size > 0) return managed
    }
    return decodeOrNothing(managedFieldsOf(live), true)
  }

  #typed(
    type: TypeNode,
    value: JsonObject,
    allowDuplicates: boolean,
    failure: string,
    named: JsonObject,
    suffix = '',
  ): TypedValue {
    try {
      validateTyped(type, value, allowDuplicates)
    } catch (error) {
      throw new ApplyError(`${failure} (${describe(named)})${suffix}: ${(error as Error).message}`, { cause: error })
    }
    return { value, type, apiVersion: this.#options.apiVersion }
  }

  #ownType(): TypeNode {
    const type = this.#typeOf(this.#options.apiVersion)
    if (type === undefined) throw new ApplyError(`no corresponding type for ${formatGroupVersionKind(this.#gvk)}`)
    return type
  }

  #typeOf(apiVersion: string): TypeNode | undefined {
    let type = this.#types.get(apiVersion)
    if (type === undefined) {
      const schema = this.#options.schemaFor(apiVersion)
      if (schema === undefined) return undefined
      type = objectTypeOf(schema)
      this.#types.set(apiVersion, type)
    }
    return type
  }

  /** The versions for one operation. Conversions are cached, so that each object is converted at most once to each version. */
  #versions(): ObjectVersions {
    const converted = new Map<unknown, Map<string, TypedValue | undefined>>()
    return new ObjectVersions((object, apiVersion) => {
      if (object.apiVersion === apiVersion) return object
      let versions = converted.get(object.value)
      if (versions === undefined) converted.set(object.value, (versions = new Map()))
      if (!versions.has(apiVersion)) versions.set(apiVersion, this.#convert(object, apiVersion))
      return versions.get(apiVersion)
    }, this.#filterOf)
  }

  readonly #filterOf = (apiVersion: string): FieldSetFilter | undefined => {
    if (!this.#filters.has(apiVersion)) {
      const reset = this.#options.resetFields?.(apiVersion)
      this.#filters.set(apiVersion, reset === undefined || typeof reset === 'function' ? reset : excludeFields(reset))
    }
    return this.#filters.get(apiVersion)
  }

  #convert(object: TypedValue, apiVersion: string): TypedValue | undefined {
    const type = this.#options.convert && this.#typeOf(apiVersion)
    if (type === undefined || !isJsonObject(object.value)) return undefined
    const value = this.#options.convert?.(object.value, apiVersion)
    if (value === undefined) return undefined
    validateTyped(type, value, false)
    return { value, type, apiVersion }
  }
}

/** Runs an apply and turns an error about a converted object that does not match its schema into an ApplyError. */
function explained(apply: () => AppliedConfig): AppliedConfig {
  try {
    return apply()
  } catch (error) {
    throw error instanceof TypedValueError ? new ApplyError(error.message, { cause: error }) : error
  }
}

function strip(managers: Map<string, VersionedSet>, manager: string): void {
  const versioned = managers.get(manager)
  if (versioned === undefined) return
  const set = versioned.set.difference(neverOwned)
  if (set.isEmpty) managers.delete(manager)
  else managers.set(manager, { ...versioned, set })
}

/** Reuses the previous set when a manager owns the same fields as before, so that it need not be encoded again. */
function keepEqualSet(
  managers: Map<string, VersionedSet>,
  before: ReadonlyMap<string, VersionedSet>,
  manager: string,
): void {
  const versioned = managers.get(manager)
  const set = before.get(manager)?.set
  if (versioned && set?.equals(versioned.set)) managers.set(manager, { ...versioned, set })
}

function decodeOrNothing(entries: readonly ManagedFieldsEntry[] | undefined, stored = false): Managed {
  try {
    return decodeManagedFields(entries, stored)
  } catch {
    return emptyManaged()
  }
}

function sameOwners(a: Managed, b: Managed): boolean {
  if (a.fields.size !== b.fields.size) return false
  for (const [manager, left] of a.fields) {
    const right = b.fields.get(manager)
    if (right === undefined || left.apiVersion !== right.apiVersion || !left.set.equals(right.set)) return false
  }
  return true
}

function gvkOfConfig(config: JsonObject): GroupVersionKind {
  const apiVersion = getOwn(config, 'apiVersion')
  const kind = getOwn(config, 'kind')
  try {
    const { group, version } = parseGroupVersion(textOf(apiVersion))
    return { group, version, kind: textOf(kind) }
  } catch {
    // As in Go's Unstructured, an invalid apiVersion gives an empty type.
    return { group: '', version: '', kind: '' }
  }
}

function describe(object: JsonObject): string {
  const { name, namespace } = metadataOf(object)
  // As in Go's Unstructured, a value that is not a string reads as empty.
  return `${textOf(namespace)}/${textOf(name)}; ${formatGroupVersionKind(gvkOfConfig(object))}`
}
