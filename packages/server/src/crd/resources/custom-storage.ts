import { deepCopy, deepEqual } from '@kubewright/base'
import { unclassifiedError } from '../../request/unclassified-error.ts'
import type { StorageConversion } from '../../resource/conversion.ts'
import type { MutableObject } from '../../resource/object.ts'
import { encodeStored, StoredObject } from '../../resource/stored-object.ts'
import type { CustomVersion, CustomVersions } from './custom-versions.ts'

/** Converts custom resources between versions that differ in more than apiVersion, as a conversion webhook does. */
export interface CustomConverter {
  /** Converts objects and returns them in the same order. May change its arguments. Rejects with the ApiError for the client. */
  readonly convert: (objects: MutableObject[], apiVersion: string) => Promise<MutableObject[]>
}

/** Objects in the store may be older than today's checks of metadata. */
const lenient = { report: false, dropInvalid: true }
const strict = { report: false, dropInvalid: false }

/**
 * The storage conversion of one version of a custom resource. An object that today's schemas do not change is served as it is stored.
 * Every other object is pruned, defaulted and converted once, when it is first read.
 */
export class CustomStorage implements StorageConversion {
  readonly #versions: CustomVersions
  readonly #own: CustomVersion
  readonly #converter: CustomConverter | undefined
  /** Objects that are served as they are. */
  readonly #asStored = new WeakSet<StoredObject>()
  /** The other objects, in the served version, by their {@link StoredObject.forms}. */
  readonly #converted = new WeakMap<object, StoredObject>()

  constructor(versions: CustomVersions, own: CustomVersion, converter?: CustomConverter) {
    this.#versions = versions
    this.#own = own
    this.#converter = converter
  }

  readonly peek = (object: StoredObject): StoredObject | undefined => {
    if (this.#asStored.has(object)) return object
    const known = this.#converted.get(object.forms)
    if (known) return known
    if (this.#converter && object.object.apiVersion !== this.#own.apiVersion) return undefined
    const read = this.#read(object)
    read.apiVersion = this.#own.apiVersion
    return this.#keep(object, read)
  }

  readonly load = async (objects: readonly StoredObject[]): Promise<void> => {
    if (!this.#converter) return
    const read = objects.map((object) => this.#read(object))
    const converted = await this.#converter.convert(read, this.#own.apiVersion)
    for (const [i, object] of objects.entries()) this.#keep(object, converted[i]!)
  }

  readonly toStorage = (object: MutableObject): MutableObject | Promise<MutableObject> => {
    const { storage } = this.#versions
    if (storage === this.#own) return this.#write(object)
    const copy = deepCopy(object)
    if (this.#converter) {
      return this.#converter.convert([copy], storage.apiVersion).then(([converted]) => this.#write(converted!))
    }
    copy.apiVersion = storage.apiVersion
    return this.#write(copy)
  }

  readonly noteWritten = (object: StoredObject): void => {
    // An object that lacks a status with a default gets it when it is read.
    if (this.#versions.storage !== this.#own || (this.#own.defaultsStatus && !('status' in object.object))) return
    this.#asStored.add(object)
  }

  /** A copy in its stored version, pruned and defaulted: the schema may have changed since the object was stored. */
  #read(object: StoredObject): MutableObject {
    const read = object.copy()
    if (!this.#versions.all.has(read.apiVersion)) {
      throw unclassifiedError(`request to convert CR from an invalid group/version: ${read.apiVersion}`)
    }
    this.#versions.normalize(read, lenient)
    this.#versions.default(read)
    // Objects that were stored before generations existed have none.
    read.metadata.generation ||= 1
    const { resourceVersion } = object.object.metadata
    if (resourceVersion !== undefined) read.metadata.resourceVersion = resourceVersion
    return read
  }

  /** Records how a stored object is served, and returns it in that form. */
  #keep(object: StoredObject, seen: MutableObject): StoredObject {
    if (object.object.apiVersion !== this.#own.apiVersion) this.#versions.normalize(seen, strict)
    if (deepEqual(seen, object.object)) {
      this.#asStored.add(object)
      return object
    }
    const result = new StoredObject(object.key, object.revision, encodeStored(seen), seen)
    this.#converted.set(object.forms, result)
    this.#asStored.add(result)
    return result
  }

  /**
   * Prunes and defaults an object in the storage version, so that it can be served as it is stored. A new object has no status: kube-apiserver
   * stores it without, and sets the default of the status when it reads the object.
   */
  #write(object: MutableObject): MutableObject {
    this.#versions.normalize(object, strict)
    const hasStatus = 'status' in object
    this.#versions.default(object)
    if (!hasStatus && this.#versions.storage.defaultsStatus) delete object['status']
    return object
  }
}
