import type { AsyncFieldManagerOptions, FieldManagerOptions } from '@kubewright/api'
import { type Awaitable, deepCopy } from '@kubewright/base'
import type { MutableObject } from './object.ts'
import type { Resource } from './resource.ts'
import { encodeStored, StoredObject } from './stored-object.ts'

/**
 * How objects move between the version that a resource serves and the other versions of its kind. Every member is optional: a kind
 * with one version, stored as it is served, needs none.
 */
export interface Conversion {
  /** Between the served and the stored version. Absent when stored bytes are served unchanged. */
  readonly storage?: StorageConversion | undefined
  /** From the served version to any other, for managed fields that were recorded in another version. */
  readonly fields?: FieldConversion | undefined
  /**
   * To kube-apiserver's internal version, where it differs from every served one. Tables and PartialObjectMetadata are built from it.
   * Returns a new object or the argument; never changes the argument.
   */
  readonly toInternal?: ((object: MutableObject) => MutableObject) | undefined
}

/**
 * Converts between the stored and the served version. Reading is split in two, so that hot paths stay synchronous and serve stored
 * bytes: `peek` never waits, and `load` waits only for objects that `peek` does not know. An object that needs no conversion is passed
 * through as the same {@link StoredObject}, which keeps its bytes.
 */
export interface StorageConversion {
  /** The object as clients of the served version see it; undefined until {@link StorageConversion.load} has converted it. */
  readonly peek: (stored: StoredObject) => StoredObject | undefined
  /** Converts objects so that `peek` returns them. Rejects with the ApiError for the client when one cannot be converted. */
  readonly load: (stored: readonly StoredObject[]) => Promise<void>
  /** Converts an object in client form to the stored version. May change and return the argument. */
  readonly toStorage: (object: MutableObject) => MutableObject | Promise<MutableObject>
  /** Called with the result of storing an object that `toStorage` returned, so that reading it needs no conversion. */
  readonly noteWritten: (stored: StoredObject) => void
}

/** The facts about the other versions of a kind that the field manager needs. */
export interface FieldConversion extends Pick<FieldManagerOptions, 'schemaFor'> {
  /** Converts an object to another version; undefined when that version does not exist. */
  readonly convert: NonNullable<FieldManagerOptions['convert']>
  /** Replaces `convert` where conversion is asynchronous, such as with a webhook. */
  readonly convertAsync?: AsyncFieldManagerOptions['convert'] | undefined
}

/**
 * Stored objects as clients of the resource's version see them, in the same order. Objects that must be converted by a webhook are
 * converted in one batch.
 */
export async function servedObjects(
  { conversion: { storage } }: Resource,
  stored: readonly StoredObject[],
): Promise<readonly StoredObject[]> {
  if (!storage) return stored
  for (;;) {
    const known = stored.map((object) => storage.peek(object))
    if (!known.includes(undefined)) return known as StoredObject[]
    // Again after this wait: an old version can lose its converted form meanwhile, but only once.
    await storage.load(stored.filter((_, index) => known[index] === undefined))
  }
}

/** As {@link servedObjects} for one object. */
export function servedObject(resource: Resource, stored: StoredObject): Awaitable<StoredObject> {
  const { storage } = resource.conversion
  if (!storage) return stored
  return storage.peek(stored) ?? servedObjects(resource, [stored]).then(([served]) => served!)
}

/** An object of one resource as an object of another that is stored in the same place, converted by way of the stored version. */
export async function convertBetween(from: Resource, to: Resource, object: MutableObject): Promise<MutableObject> {
  const { resourceVersion } = object.metadata
  const copy = deepCopy(object)
  const stored = from.conversion.storage
    ? await from.conversion.storage.toStorage(copy)
    : { ...copy, apiVersion: from.storage.apiVersion, kind: from.storage.kind }
  let result: MutableObject
  if (to.conversion.storage) {
    const revision = Number(resourceVersion ?? 0)
    result = (await servedObject(to, new StoredObject('', revision, encodeStored(stored)))).copy()
  } else result = { ...stored, apiVersion: to.kind.apiVersion, kind: to.kind.kind }
  if (resourceVersion === undefined) delete result.metadata.resourceVersion
  else result.metadata.resourceVersion = resourceVersion
  return result
}

/** A {@link StorageConversion} from two synchronous functions. Every stored object is converted once, when it is first read. */
export function storageConversion(functions: {
  readonly toStorage: (object: MutableObject) => MutableObject
  /** May change and return the argument. */
  readonly fromStorage: (object: MutableObject) => MutableObject
}): StorageConversion {
  // Keyed by the forms of the stored object, so that a conversion lives as long as they do.
  const converted = new WeakMap<object, StoredObject>()
  return {
    peek: (stored) => {
      let served = converted.get(stored.forms)
      if (!served) {
        const object = functions.fromStorage(stored.copy())
        served = new StoredObject(stored.key, stored.revision, encodeStored(object), object)
        converted.set(stored.forms, served)
      }
      return served
    },
    load: async () => undefined,
    toStorage: functions.toStorage,
    noteWritten: () => undefined,
  }
}
