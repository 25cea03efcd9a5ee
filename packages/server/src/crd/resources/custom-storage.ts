import { deepCopy, deepEqual } from '@kubewright/base'
import { unclassifiedError } from '../../request/unclassified-error.ts'
import type { StorageConversion } from '../../resource/conversion.ts'
import type { MutableObject } from '../../resource/object.ts'
import { encodeStored, StoredObject } from '../../resource/stored-object.ts'
import type { CustomVersion, CustomVersions } from './custom-versions.ts'

/** Converts custom resources into another version where more than the apiVersion changes, as a conversion webhook does. */
export interface CustomConverter {
  /** The same objects, in the same order, in the version; may change those that it is given. Rejects with what the client is told. */
  readonly convert: (objects: MutableObject[], apiVersion: string) => Promise<MutableObject[]>
}

const stored = { report: false, dropInvalid: true }
const written = { report: false, dropInvalid: false }

/**
 * The stored objects of a custom resource as one version shows them. What the current schemas leave as it is stored is served as
 * stored; everything else is made once for each stored object.
 */
export class CustomStorage implements StorageConversion {
  readonly #versions: CustomVersions
  readonly #own: CustomVersion
  readonly #converter: CustomConverter | undefined
  readonly #asStored = new WeakSet<StoredObject>()
  readonly #converted = new WeakMap<StoredObject, StoredObject>()

  constructor(versions: CustomVersions, own: CustomVersion, converter?: CustomConverter) {
    this.#versions = versions
    this.#own = own
    this.#converter = converter
  }

  readonly peek = (object: StoredObject): StoredObject | undefined => {
    if (this.#asStored.has(object)) return object
    const known = this.#converted.get(object)
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
    if (this.#versions.storage === this.#own) this.#asStored.add(object)
  }

  /** The object by the schema of the version that it is stored in: older ones may lack defaults and have fields that are gone. */
  #read(object: StoredObject): MutableObject {
    const read = object.copy()
    if (!this.#versions.all.has(read.apiVersion)) {
      throw unclassifiedError(`request to convert CR from an invalid group/version: ${read.apiVersion}`)
    }
    this.#versions.treat(read, stored)
    this.#versions.default(read)
    // Objects of the first days have none.
    read.metadata.generation ||= 1
    const { resourceVersion } = object.object.metadata
    if (resourceVersion !== undefined) read.metadata.resourceVersion = resourceVersion
    return read
  }

  #keep(object: StoredObject, seen: MutableObject): StoredObject {
    if (object.object.apiVersion !== this.#own.apiVersion) this.#versions.treat(seen, written)
    if (deepEqual(seen, object.object)) {
      this.#asStored.add(object)
      return object
    }
    const result = new StoredObject(object.key, object.revision, encodeStored(seen), seen)
    this.#converted.set(object, result)
    this.#asStored.add(result)
    return result
  }

  /** Defaults are stored too, so that what was written reads as it is. */
  #write(object: MutableObject): MutableObject {
    this.#versions.treat(object, written)
    this.#versions.default(object)
    return object
  }
}
