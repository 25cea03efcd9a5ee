import {
  type ApiError,
  encodeJson,
  isAlreadyExists,
  newAlreadyExists,
  newBadRequest,
  newConflict,
  newGenerateNameConflict,
  newInvalid,
  newNotFound,
} from '@kubewright/api'
import {
  type Clock,
  deepCopy,
  deepEqual,
  formatRFC3339,
  goQuote,
  instantFromMillis,
  isPathSegmentName,
  nameIsDNSSubdomain,
  type Random,
  randomSuffix,
  uuid,
} from '@kubewright/base'
import { type FieldError, FieldPath, invalid } from '@kubewright/schema'
import type { Store } from '@kubewright/storage'
import type { StoreFeed } from '../cache/store-feed.ts'
import type { RequestContext } from '../request/request-context.ts'
import { unclassifiedError } from '../request/unclassified-error.ts'
import { servedObject } from '../resource/conversion.ts'
import type { MutableMeta, MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'
import { encodeStored, StoredObject, storedObject } from '../resource/stored-object.ts'
import type { Strategy, StrategyContext, Undo } from '../resource/strategy.ts'
import {
  type NameCheck,
  pathSegmentName,
  validateFinalizerNames,
  validateObjectMeta,
  validateObjectMetaUpdate,
} from '../resource/validate-object-meta.ts'

const metadataPath = FieldPath.of('metadata')
const modified = 'the object has been modified; please apply your changes to the latest version and try again'
/** How often a generated name is drawn anew when it is taken. */
const nameAttempts = 8
/** What etcd takes in one request unless told otherwise; objects that it would refuse are refused with any store. */
const maxObjectBytes = 1.5 * 1024 * 1024
/** Generated names are cut so that the random suffix fits into a DNS label. */
const maxGeneratedPrefix = 58

/** What the checks around a write are told. */
export interface WriteScope {
  readonly context: RequestContext
  readonly resource: Resource
  readonly namespace: string
  readonly subresource: string
  /** The strategy in force: the resource's own or its subresource's. */
  readonly strategy: Strategy
  readonly dryRun: boolean
}

/** Runs after everything else has accepted the object and before it is stored; throws to refuse. */
export type Validation = (object: MutableObject, old: MutableObject | undefined) => Promise<void>

/** What a write gave: the object as it now is. */
export interface WriteOutcome {
  readonly object: StoredObject
  readonly created: boolean
  /** The write took the last finalizer of an object that was being deleted, and so removed it. */
  readonly deleted: boolean
}

/** Creates and updates stored objects with the checks that all resources share (registry/generic/registry/store.go, registry/rest). */
export class ObjectRegistry {
  readonly store: Store
  readonly feed: StoreFeed
  readonly clock: Clock
  readonly #random: Random
  #second = Number.NaN
  #timestamp = ''

  constructor(parts: { store: Store; feed: StoreFeed; clock: Clock; random: Random }) {
    this.store = parts.store
    this.feed = parts.feed
    this.clock = parts.clock
    this.#random = parts.random
  }

  /** The key of an object; namespaced resources keep each namespace together. */
  keyOf(resource: Resource, namespace: string, name: string): string {
    const scope = resource.kind.scope === 'Namespaced' ? `${keyPart(namespace)}/` : ''
    return `${resource.storage.prefix}${scope}${keyPart(name)}`
  }

  /** The newest version of an object; a name that no object can have is a bad request. */
  async find(resource: Resource, namespace: string, name: string): Promise<StoredObject | undefined> {
    const problems = isPathSegmentName(name, false)
    if (problems.length > 0) {
      throw newBadRequest(`Name parameter invalid: ${goQuote(name)}: ${problems.join(';')}`)
    }
    if (name === '') return undefined
    const { entry } = await this.store.get(this.keyOf(resource, namespace, name))
    return entry && storedObject(entry)
  }

  async create(scope: WriteScope, object: MutableObject, validate: Validation): Promise<StoredObject> {
    const generated = !object.metadata.name && object.metadata.generateName
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#createOnce(scope, generated ? deepCopy(object) : object, validate)
      } catch (error) {
        if (!generated || !isAlreadyExists(error) || attempt === nameAttempts) throw error
      }
    }
  }

  /** @param byUpdate an update or an apply of what does not exist yet, which may name a version */
  async #createOnce(
    scope: WriteScope,
    object: MutableObject,
    validate: Validation,
    byUpdate = false,
  ): Promise<StoredObject> {
    const { resource } = scope
    const undo = await this.prepareCreate(scope, object, validate)
    try {
      const name = object.metadata.name!
      const groupResource = { group: resource.kind.group, resource: resource.kind.plural }
      const taken = async (): Promise<ApiError> => {
        const error = object.metadata.generateName
          ? newGenerateNameConflict(groupResource, name, 1)
          : newAlreadyExists(groupResource, name)
        const existing = await this.find(resource, scope.namespace, name)
        if (existing?.object.metadata.deletionTimestamp === undefined) return error
        return new (error.constructor as typeof ApiError)({
          ...error.status,
          message: `object is being deleted: ${error.status.message}`,
        })
      }
      const key = this.keyOf(resource, scope.namespace, name)
      // Storage refuses the version, so that a dry run gives it back; a text that is no version counts as none, as do "0" and "".
      const version = object.metadata.resourceVersion
      delete object.metadata.resourceVersion
      const storage = await this.#toStorage(resource, object)
      const raw = encodeBounded(storage)
      if (scope.dryRun) {
        if (await this.find(resource, scope.namespace, name)) throw await taken()
        return new StoredObject(key, 0, raw, dryRunObject(storage, version))
      }
      if (!byUpdate && version !== undefined && /^0*[1-9]\d*$/.test(version)) {
        throw unclassifiedError('resourceVersion should not be set on objects to be created')
      }
      const result = await this.store.put(key, raw, 0)
      if (!result.ok) throw await taken()
      return wrote(resource, storedObject(result.entry!))
    } catch (error) {
      await undo?.()
      throw error
    }
  }

  /** Fills and checks an object that is about to be created; the result takes back what a `begin` hook did. */
  async prepareCreate(scope: WriteScope, object: MutableObject, validate: Validation): Promise<Undo | undefined> {
    const { resource, strategy } = scope
    let meta = object.metadata
    delete meta['selfLink']
    meta.creationTimestamp = this.timestamp()
    meta.uid = uuid(this.#random)
    if (meta.generateName && !meta.name) {
      meta.name = meta.generateName.slice(0, maxGeneratedPrefix) + randomSuffix(this.#random, 5)
    }
    const context = this.#strategyContext(scope)
    ensureNamespace(scope, object)
    strategy.prepareForCreate?.(object, context)
    if (strategy.generation) meta.generation = 1
    normalize(resource, object)
    const undo = await strategy.beginCreate?.(object, context)
    meta = object.metadata
    try {
      const kind = { group: resource.errorGroup, kind: object.kind }
      const namespaced = resource.kind.scope === 'Namespaced'
      const own = validateOwnMeta(scope, meta)
      own.push(...((await strategy.validate?.(object, context)) ?? []))
      if (own.length > 0) throw newInvalid(kind, meta.name ?? '', own)
      const common = validateObjectMeta(meta, namespaced, pathSegmentName, metadataPath)
      if (common.length > 0) throw newInvalid(kind, meta.name ?? '', common)
      for (const text of strategy.warningsOnCreate?.(object) ?? []) scope.context.warn(text)
      await validate(object, undefined)
      return undo
    } catch (error) {
      await undo?.()
      throw error
    }
  }

  /**
   * Replaces an object by what `transform` makes of the newest version, again and again until no other write came between. A
   * resourceVersion in the result must be the newest one.
   */
  async update(
    scope: WriteScope,
    name: string,
    transform: (old: MutableObject | undefined) => Promise<MutableObject>,
    validate: Validation,
    options: { readonly allowCreate?: boolean; readonly uid?: string | undefined } = {},
  ): Promise<WriteOutcome> {
    const { resource, strategy } = scope
    const groupResource = { group: resource.kind.group, resource: resource.kind.plural }
    for (;;) {
      const existing = await this.find(resource, scope.namespace, name)
      if (!existing) {
        if (!strategy.allowCreateOnUpdate && !options.allowCreate) throw newNotFound(groupResource, name)
        if (options.uid !== undefined) {
          throw newConflict(groupResource, name, this.#uidMismatch(resource, scope.namespace, name, options.uid, ''))
        }
        const object = await transform(undefined)
        versionOf(object)
        try {
          const made = await this.#createOnce(scope, object, validate, true)
          return { object: made, created: true, deleted: false }
        } catch (error) {
          // Somebody else was first: what was meant to be written goes on top of theirs.
          if (scope.dryRun || !isAlreadyExists(error)) throw error
          if (!(await this.find(resource, scope.namespace, name))) throw error
          continue
        }
      }
      const old = await this.#fromStorage(resource, existing)
      if (options.uid !== undefined && options.uid !== old.metadata.uid) {
        throw newConflict(
          groupResource,
          name,
          this.#uidMismatch(resource, scope.namespace, name, options.uid, old.metadata.uid),
        )
      }
      const object = await transform(deepCopy(old))
      this.#checkVersion(scope, name, object, existing.revision)
      const context = this.#strategyContext(scope)
      const undo = await strategy.beginUpdate?.(object, old, context)
      try {
        await this.#prepareUpdate(scope, object, old, context)
        keepManagedFieldsTimes(object, old)
        await validate(object, old)
        const next = await this.#toStorage(resource, object)
        const raw = encodeBounded(next)
        const emptied =
          old.metadata.deletionTimestamp !== undefined &&
          shouldDelete(object, old) &&
          !strategy.keepDuringUpdate?.(object)
        if (emptied) {
          if (scope.dryRun) return { object: dryRunStored(existing, raw), created: false, deleted: true }
          const gone = await this.store.delete(existing.key, existing.revision)
          if (!gone.ok) {
            await undo?.()
            continue
          }
          await strategy.afterDelete?.(object, context)
          return { object: new StoredObject(existing.key, existing.revision, raw), created: false, deleted: true }
        }
        if (existing.sameContent(raw) || (resource.conversion.storage && sameStored(existing, next)))
          return { object: existing, created: false, deleted: false }
        if (scope.dryRun) return { object: dryRunStored(existing, raw), created: false, deleted: false }
        const result = await this.store.put(existing.key, raw, existing.revision)
        if (result.ok) {
          strategy.afterUpdate?.(object, old)
          return { object: wrote(resource, storedObject(result.entry!)), created: false, deleted: false }
        }
        // Somebody was faster: take back what was reserved and look again.
        await undo?.()
      } catch (error) {
        await undo?.()
        throw error
      }
    }
  }

  async #prepareUpdate(
    scope: WriteScope,
    object: MutableObject,
    old: MutableObject,
    context: StrategyContext,
  ): Promise<void> {
    const { resource, strategy } = scope
    ensureNamespace(scope, object)
    const before = old.metadata
    setOrDelete(object.metadata, 'generation', before.generation)
    strategy.prepareForUpdate?.(object, old, context)
    keepSystemFields(object.metadata, before)
    normalize(resource, object)
    const meta = object.metadata
    if (strategy.generation && specChanged(strategy.generation, object, old)) {
      meta.generation = (before.generation ?? 0) + 1
    }
    const namespaced = resource.kind.scope === 'Namespaced'
    const errors = [
      ...validateObjectMeta(meta, namespaced, pathSegmentName, metadataPath),
      ...validateObjectMetaUpdate(meta, before, metadataPath),
      ...(strategy.metadataOnUpdate ?? ['update', 'create']).flatMap((check) =>
        check === 'update'
          ? [...validateObjectMetaUpdate(meta, before, metadataPath), ...validateOwnFinalizers(scope, meta)]
          : validateOwnMeta(scope, meta),
      ),
      ...((await strategy.validateUpdate?.(object, old, context)) ?? []),
    ]
    if (errors.length > 0) throw newInvalid({ group: resource.errorGroup, kind: object.kind }, meta.name ?? '', errors)
    for (const text of strategy.warningsOnUpdate?.(object, old) ?? []) scope.context.warn(text)
  }

  /** As the API server's versioner: empty and "0" mean no version. */
  #checkVersion(scope: WriteScope, name: string, object: MutableObject, current: number): void {
    const { resource, strategy } = scope
    const wanted = versionOf(object)
    if (wanted === 0) {
      if (strategy.allowUnconditionalUpdate === false) {
        const error = invalid(metadataPath.child('resourceVersion'), 0, 'must be specified for an update')
        throw newInvalid({ group: resource.kind.group, kind: resource.kind.plural }, name, [error])
      }
      object.metadata.resourceVersion = String(current)
    } else if (wanted !== current) {
      throw newConflict({ group: resource.kind.group, resource: resource.kind.plural }, name, modified)
    }
  }

  #uidMismatch(resource: Resource, namespace: string, name: string, wanted: string, found: string | undefined): string {
    const key = this.keyOf(resource, namespace, name)
    return (
      `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ` +
      `Precondition failed: UID in precondition: ${wanted}, UID in object meta: ${found ?? ''}`
    )
  }

  #strategyContext(scope: WriteScope): StrategyContext {
    return {
      request: scope.context,
      now: this.clock.now(),
      namespace: scope.namespace,
      subresource: scope.subresource,
      dryRun: scope.dryRun,
    }
  }

  async #toStorage(resource: Resource, object: MutableObject): Promise<MutableObject> {
    const shown = resource.codec.toClientForm(object)
    return resource.conversion.storage ? resource.conversion.storage.toStorage(shown) : shown
  }

  async #fromStorage(resource: Resource, stored: StoredObject): Promise<MutableObject> {
    const served = await servedObject(resource, stored)
    const object = resource.codec.toWorkingForm(served.object)
    return object === served.object ? served.copy() : object
  }

  /** Now, as metadata spells it. */
  timestamp(): string {
    // Times have whole seconds, so most requests share one.
    const second = Math.floor(this.clock.now() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#timestamp = formatRFC3339(instantFromMillis(second * 1000))
    }
    return this.#timestamp
  }
}

/** The bytes of an object, unless they are more than the real server's store takes. */
function encodeBounded(object: MutableObject): Uint8Array {
  const raw = encodeStored(object, encodeJson)
  if (raw.length > maxObjectBytes) throw unclassifiedError('etcdserver: request is too large')
  return raw
}

/** Notes that an object is stored as the resource's version writes it. */
function wrote({ conversion }: Resource, stored: StoredObject): StoredObject {
  conversion.storage?.noteWritten(stored)
  return stored
}

/** Whether an object is the stored one, in whatever order its fields are. */
function sameStored(existing: StoredObject, object: MutableObject): boolean {
  const { resourceVersion: _, ...metadata } = object.metadata
  const { resourceVersion: __, ...before } = existing.object.metadata
  return deepEqual({ ...object, metadata }, { ...existing.object, metadata: before })
}

/** The checks of metadata that a kind makes itself. */
function validateOwnMeta(scope: WriteScope, meta: MutableObject['metadata']): FieldError[] {
  const { resource, strategy } = scope
  const namespaced = resource.kind.scope === 'Namespaced'
  const checkName: NameCheck = strategy.validateName ?? nameIsDNSSubdomain
  return [...validateObjectMeta(meta, namespaced, checkName, metadataPath), ...validateOwnFinalizers(scope, meta)]
}

/** Most built-in kinds know more about finalizers than that they need a name. */
function validateOwnFinalizers({ resource, strategy }: WriteScope, meta: MutableObject['metadata']): FieldError[] {
  if (!resource.origin.restrictsFinalizerNames || strategy.anyFinalizer || !meta.finalizers) return []
  return validateFinalizerNames(meta.finalizers, metadataPath.child('finalizers'))
}

/** An object in the namespace of the request takes it; another namespace is refused, except where there are none. */
function ensureNamespace({ resource, namespace }: WriteScope, object: MutableObject): void {
  const wanted = resource.kind.scope === 'Namespaced' ? namespace : ''
  const found = object.metadata.namespace ?? ''
  if (found === wanted) return
  if (found === '') object.metadata.namespace = wanted
  else if (wanted === '') delete object.metadata.namespace
  else throw newBadRequest('the namespace of the provided object does not match the namespace sent on the request')
}

/** The write removed the last reason to keep an object that is being deleted. */
function shouldDelete(object: MutableObject, old: MutableObject): boolean {
  if ((object.metadata.finalizers ?? []).length > 0) return false
  // An object that is still in its grace period stays, unless finalizers were what kept it.
  const grace = old.metadata.deletionGracePeriodSeconds ?? 0
  return grace === 0
}

/** When only the times of managed fields differ, the old times stay, so that a write without effect changes nothing. */
function keepManagedFieldsTimes(object: MutableObject, old: MutableObject): void {
  const [fresh, before] = [object.metadata.managedFields, old.metadata.managedFields]
  if (!fresh || !before || fresh.length !== before.length) return
  const entries = (list: typeof fresh): unknown[] => list.map(({ time: _, ...rest }) => rest)
  if (!deepEqual(entries(fresh), entries(before))) return
  const rest = ({ metadata: { managedFields: _, ...metadata }, ...fields }: MutableObject): object => ({
    ...fields,
    metadata,
  })
  if (deepEqual(rest(object), rest(old))) object.metadata.managedFields = before
}

/** What an update cannot change about an object's life, whatever it says. */
function keepSystemFields(meta: MutableMeta, before: MutableMeta): void {
  // Nothing is linked any more.
  delete meta['selfLink']
  meta.uid ||= before.uid!
  if (before.creationTimestamp !== undefined) meta.creationTimestamp = before.creationTimestamp
  if (before.deletionTimestamp !== undefined) meta.deletionTimestamp = before.deletionTimestamp
  if (before.deletionGracePeriodSeconds !== undefined && meta.deletionGracePeriodSeconds === undefined) {
    meta.deletionGracePeriodSeconds = before.deletionGracePeriodSeconds
  }
}

/** Gives an object in place the form in which it is stored. */
function normalize({ codec }: Resource, object: MutableObject): void {
  const fresh = codec.toWorkingForm(object)
  if (fresh === object) return
  for (const key of Object.keys(object)) if (!(key in fresh)) delete object[key]
  Object.assign(object, fresh)
}

function specChanged(
  rule: true | ((object: MutableObject, old: MutableObject) => boolean),
  object: MutableObject,
  old: MutableObject,
): boolean {
  return rule === true ? !deepEqual(object['spec'], old['spec']) : rule(object, old)
}

function setOrDelete<K extends string, V>(target: { [key in K]?: V }, key: K, value: V | undefined): void {
  if (value === undefined) delete target[key]
  else target[key] = value
}

/** The version that a write names; 0 when none. */
function versionOf(object: MutableObject): number {
  const text = object.metadata.resourceVersion ?? ''
  if (text !== '' && !/^\d+$/.test(text)) {
    throw unclassifiedError(`strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`)
  }
  return Number(text || 0)
}

/** What a dry run shows: an object that was never stored has no resourceVersion but the one that it was sent with. */
function dryRunObject(object: MutableObject, resourceVersion: string | undefined): MutableObject {
  return { ...object, metadata: { ...object.metadata, ...(resourceVersion ? { resourceVersion } : {}) } }
}

function dryRunStored(existing: StoredObject, raw: Uint8Array): StoredObject {
  return new StoredObject(existing.key, existing.revision, raw)
}

/**
 * A name as part of a key, which is printable ASCII. Some kinds, such as Roles, allow any character but slashes and percent signs in
 * names: other bytes are written in hexadecimal behind a percent sign, so that no two names have the same key.
 */
function keyPart(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return name
  return Array.from(Buffer.from(name), (byte) =>
    byte < 0x20 || byte > 0x7e ? `%${byte.toString(16).padStart(2, '0')}` : String.fromCharCode(byte),
  ).join('')
}
