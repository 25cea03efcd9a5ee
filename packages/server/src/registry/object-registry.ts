import {
  ApiError,
  maxJsonDepth,
  newAlreadyExists,
  newBadRequest,
  newConflict,
  newGenerateNameConflict,
  newInternalError,
} from '@kubewright/api'
import {
  type Awaitable,
  type Clock,
  deepEqual,
  formatRFC3339,
  goQuote,
  instantFromMillis,
  isPathSegmentName,
  type Random,
  uuid,
} from '@kubewright/base'
import type { Store } from '@kubewright/storage'
import type { StoreFeed } from '../cache/store-feed.ts'
import { andThen } from '../request/awaitable.ts'
import { unclassifiedError } from '../request/unclassified-error.ts'
import { servedObject } from '../resource/conversion.ts'
import type { MutableObject } from '../resource/object.ts'
import { markReadable, nestsDeeper } from '../resource/read-problem.ts'
import type { Resource } from '../resource/resource.ts'
import { encodeForm, StoredObject, storedForm, storedObject } from '../resource/stored-object.ts'
import type { StrategyContext } from '../resource/strategy.ts'
import { groupResourceOf, type WriteScope } from './write-scope.ts'

/** The largest object in bytes: etcd's default limit for a request, which applies to every store here. */
const maxObjectBytes = 1.5 * 1024 * 1024

/** The object after a write. */
export interface WriteOutcome {
  readonly object: StoredObject
  readonly created: boolean
}

/**
 * Reads objects from the store and commits prepared ones to it (registry/generic/registry/store.go). Every method is one step: the
 * registry knows neither verbs nor admission, and the write pipeline decides on the order. Writes are compare-and-swap operations, so
 * that any number of servers may share a store.
 */
export class ObjectRegistry {
  readonly store: Store
  readonly feed: StoreFeed
  readonly clock: Clock
  readonly random: Random
  #second = Number.NaN
  #timestamp = ''

  constructor(parts: { store: Store; feed: StoreFeed; clock: Clock; random: Random }) {
    this.store = parts.store
    this.feed = parts.feed
    this.clock = parts.clock
    this.random = parts.random
  }

  /** The key of an object. Keys of one namespace share a prefix. */
  keyOf(resource: Resource, namespace: string, name: string): string {
    const scope = resource.kind.scope === 'Namespaced' ? `${keyPart(namespace)}/` : ''
    return `${resource.storage.prefix}${scope}${keyPart(name)}`
  }

  /** The prefix of the keys of a namespace; of all keys of the resource when the namespace is empty. */
  prefixOf({ kind, storage }: Resource, namespace: string): string {
    return kind.scope === 'Namespaced' && namespace !== '' ? `${storage.prefix}${keyPart(namespace)}/` : storage.prefix
  }

  /**
   * The newest version of an object, read from the store and not from the cache. Throws a BadRequest for an impossible name, and an
   * InternalError for an object whose bytes cannot be read.
   */
  find(resource: Resource, namespace: string, name: string): Awaitable<StoredObject | undefined> {
    return andThen(this.findUnchecked(resource, namespace, name), (found) => {
      if (found && !this.feed.isReadable(resource.storage.prefix, found)) throw unreadableError(found)
      return found
    })
  }

  /** As {@link ObjectRegistry.find}, but also returns an object whose bytes cannot be read. Only for its deletion. */
  findUnchecked(resource: Resource, namespace: string, name: string): Awaitable<StoredObject | undefined> {
    const problems = isPathSegmentName(name, false)
    if (problems.length > 0) {
      throw newBadRequest(`Name parameter invalid: ${goQuote(name)}: ${problems.join(';')}`)
    }
    if (name === '') return undefined
    return this.store.get(this.keyOf(resource, namespace, name)).then(({ entry }) => entry && storedObject(entry))
  }

  /** A stored object in the served version and in working form. Shared with other readers: must not be changed. */
  load(resource: Resource, stored: StoredObject): Awaitable<MutableObject> {
    return andThen(servedObject(resource, stored), (served) =>
      served.isWorkingForm ? served.object : resource.codec.toWorkingForm(served.object, true),
    )
  }

  /**
   * Stores a new object. Throws AlreadyExists when there is one of its name. A dry run stores nothing, and returns the object with
   * revision 0.
   *
   * @param allowsVersion whether the object may name a resource version, as creates by update and by apply may
   */
  async insert(scope: WriteScope, object: MutableObject, allowsVersion: boolean): Promise<StoredObject> {
    const { resource, namespace } = scope
    const name = object.metadata.name!
    const key = this.keyOf(resource, namespace, name)
    // The store checks the version, hence a dry run returns it unchecked. A text that is no number counts as none, as do "0" and "".
    const { resourceVersion } = object.metadata
    delete object.metadata.resourceVersion
    const converted = this.#toStorage(resource, object)
    const next = converted instanceof Promise ? await converted : converted
    const stored = storedForm(next)
    const raw = encodeBounded(stored)
    if (scope.dryRun) {
      if (await this.find(resource, namespace, name)) throw await this.#alreadyExists(scope, object)
      const metadata = { ...stored.metadata, ...(resourceVersion ? { resourceVersion } : {}) }
      return new StoredObject(key, 0, raw, { ...stored, metadata })
    }
    if (!allowsVersion && resourceVersion !== undefined && /^0*[1-9]\d*$/.test(resourceVersion)) {
      throw unclassifiedError('resourceVersion should not be set on objects to be created')
    }
    const result = await this.store.put(key, raw, 0)
    if (!result.ok) throw await this.#alreadyExists(scope, object)
    return this.#written(resource, storedObject(result.entry!), stored, next === object)
  }

  /**
   * Stores the next version of an object in place of `existing`. Returns undefined, and has changed nothing, when another write came
   * first. An update that changes nothing stores nothing and returns `existing`. An update that leaves an object under deletion
   * without finalizers removes it.
   */
  async replace(
    scope: WriteScope,
    existing: StoredObject,
    object: MutableObject,
    old: MutableObject,
  ): Promise<WriteOutcome | undefined> {
    const { resource, strategy, dryRun } = scope
    const converted = this.#toStorage(resource, object)
    const next = converted instanceof Promise ? await converted : converted
    const form = storedForm(next)
    const raw = encodeBounded(form)
    const dryRunObject = (): StoredObject => new StoredObject(existing.key, existing.revision, raw)
    if (endsDeletion(object, old) && !strategy.keepDuringUpdate?.(object)) {
      if (!dryRun) {
        const removed = await this.store.delete(existing.key, existing.revision)
        if (!removed.ok) return undefined
        await strategy.afterDelete?.(object, this.strategyContext(scope))
      }
      return { object: dryRunObject(), created: false }
    }
    // The order of fields may differ, for example after a deletion has added some. Equal values have encodings of the same length.
    const mayBeSame = resource.conversion.storage !== undefined || existing.size === raw.length
    const unchanged = existing.sameContent(raw) || (mayBeSame && sameObject(existing, form))
    const isFirst = existing.isFirstVersion && strategy.storesFirstUpdate?.(object)
    if (unchanged && !isFirst && !existing.isStale) return { object: existing, created: false }
    if (dryRun) return { object: dryRunObject(), created: false }
    const result = await this.store.put(existing.key, raw, existing.revision)
    if (!result.ok) return undefined
    if (strategy.afterUpdate) await strategy.afterUpdate(object, old)
    return { object: this.#written(resource, storedObject(result.entry!), form, next === object), created: false }
  }

  /**
   * Stores an object that already has its stored form in place of `existing`. Checks nothing but the size and the depth. Returns
   * undefined, and has changed nothing, when another write came first. `resource` is given for an object that has just got its client form
   * and that the caller does not use afterwards.
   */
  async swap(existing: StoredObject, object: MutableObject, resource?: Resource): Promise<StoredObject | undefined> {
    const form = storedForm(object)
    const raw = encodeBounded(form)
    if (existing.sameContent(raw)) return existing
    const result = await this.store.put(existing.key, raw, existing.revision)
    if (!result.ok) return undefined
    const stored = storedObject(result.entry!)
    if (resource) this.#keepForm(resource, stored, form, false)
    return stored
  }

  /** The stored form of an object, with the metadata of `marked`, after a conversion to the served version and back. */
  async throughServedVersion(
    resource: Resource,
    existing: StoredObject,
    marked: MutableObject,
  ): Promise<MutableObject> {
    const { storage } = resource.conversion
    if (!storage) return marked
    const served = await servedObject(resource, existing)
    if (served === existing) return marked
    const { metadata } = marked
    return { ...(await storage.toStorage({ ...served.copy(), metadata })), metadata }
  }

  /** Throws a Conflict unless the object has the wanted uid. `found` is undefined for an object that does not exist. */
  requireUid(scope: WriteScope, name: string, wanted: string, found: string | undefined): void {
    if (wanted !== found) throw this.preconditionConflict(scope, name, 'UID', wanted, found ?? '')
  }

  /** The Conflict of the storage layer for a precondition that the object does not meet. */
  preconditionConflict(
    { resource, namespace, dryRun }: Pick<WriteScope, 'resource' | 'namespace' | 'dryRun'>,
    name: string,
    field: 'UID' | 'ResourceVersion',
    wanted: string,
    found: string,
  ): ApiError {
    const { prefix, reportedPrefix = prefix } = resource.storage
    const key = reportedPrefix + this.keyOf(resource, namespace, name).slice(prefix.length)
    // A dry run fails before the store prepends its prefix.
    const why =
      `StorageError: invalid object, Code: 4, Key: ${dryRun ? key.replace(/^\/registry/, '') : key}, ResourceVersion: 0, ` +
      `AdditionalErrorMsg: Precondition failed: ${field} in precondition: ${wanted}, ${field} in object meta: ${found}`
    return newConflict(groupResourceOf(resource), name, why)
  }

  /** The context of strategy hooks for a write that happens now. */
  strategyContext(scope: WriteScope): StrategyContext {
    return {
      request: scope.context,
      now: this.clock.now(),
      namespace: scope.namespace,
      subresource: scope.subresource,
      dryRun: scope.dryRun,
      newUid: () => uuid(this.random),
    }
  }

  /** The current time in the format of metadata, which has whole seconds. */
  timestamp(): string {
    // Formatted once per second, because most requests share one.
    const second = Math.floor(this.clock.now() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#timestamp = formatRFC3339(instantFromMillis(second * 1000))
    }
    return this.#timestamp
  }

  #toStorage({ codec, conversion }: Resource, object: MutableObject): Awaitable<MutableObject> {
    // Encoded at once, so that it need not be a copy.
    const shown = codec.toClientForm(object, true)
    return conversion.storage ? conversion.storage.toStorage(shown) : shown
  }

  /** Completes a write: `form` is the object that was stored. `isWorkingForm`: its client form did not differ from its working form. */
  #written(resource: Resource, stored: StoredObject, form: MutableObject, isWorkingForm: boolean): StoredObject {
    resource.conversion.storage?.noteWritten(stored)
    this.#keepForm(resource, stored, form, isWorkingForm)
    return stored
  }

  #keepForm(resource: Resource, stored: StoredObject, form: MutableObject, isWorkingForm: boolean): void {
    const { codec, conversion, storage } = resource
    if (!codec.isExact || conversion.storage) return
    // Only a cache discards what was created from the bytes, when the object has not changed for a while.
    if (this.feed.filledCache(storage.prefix)) stored.keepForm(form, isWorkingForm)
  }

  async #alreadyExists({ resource, namespace }: WriteScope, { metadata }: MutableObject): Promise<ApiError> {
    const name = metadata.name!
    const error = metadata.generateName
      ? newGenerateNameConflict(groupResourceOf(resource), name, 1)
      : newAlreadyExists(groupResourceOf(resource), name)
    const existing = await this.findUnchecked(resource, namespace, name)
    if (existing?.problem !== undefined || existing?.object.metadata.deletionTimestamp === undefined) return error
    return new ApiError({ ...error.status, message: `object is being deleted: ${error.status.message}` })
  }
}

/** The error for an object whose bytes cannot be read, with the text of apiserver/pkg/storage/errors.go and the cure. */
export function unreadableError({ key, revision, problem }: StoredObject): ApiError {
  const why = `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: object not decodable revision=${revision}: ${problem}`
  return newInternalError(
    `${why}; an administrator can delete it with the delete option ignoreStoreReadErrorWithClusterBreakingPotential`,
  )
}

function encodeBounded(form: MutableObject): Uint8Array {
  const raw = encodeForm(form)
  if (raw.length > maxObjectBytes) throw unclassifiedError('etcdserver: request is too large')
  // The reader has the same limit. Patches, webhooks and conversion can nest an object deeper than any request body.
  if (nestsDeeper(raw, maxJsonDepth)) {
    throw newBadRequest(`the object is nested too deep: it may have at most ${maxJsonDepth} levels`)
  }
  markReadable(raw)
  return raw
}

/** Whether an object equals the stored one, whatever the order of fields. */
function sameObject(existing: StoredObject, object: MutableObject): boolean {
  const { resourceVersion: _, ...metadata } = object.metadata
  const { resourceVersion: __, ...before } = existing.object.metadata
  return deepEqual({ ...object, metadata }, { ...existing.object, metadata: before })
}

/** Whether an update removes the last reason to keep an object that is being deleted. */
function endsDeletion(object: MutableObject, old: MutableObject): boolean {
  if (old.metadata.deletionTimestamp === undefined || (object.metadata.finalizers ?? []).length > 0) return false
  // An object within its grace period stays until the node or the grace period ends it.
  return (old.metadata.deletionGracePeriodSeconds ?? 0) === 0
}

/**
 * A name as part of a key. Keys are printable ASCII, and some kinds, such as Roles, allow any character but slash and percent sign:
 * every other byte is written as a percent sign and two hexadecimal digits, so that no two names share a key.
 */
function keyPart(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return name
  return Array.from(Buffer.from(name), (byte) =>
    byte < 0x20 || byte > 0x7e ? `%${byte.toString(16).padStart(2, '0')}` : String.fromCharCode(byte),
  ).join('')
}
