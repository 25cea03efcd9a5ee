import { deepFreeze } from '@kubewright/base'
import { Existing } from './existing.ts'

/** Private state of a metadata object. Unlike closures, it lets all metadata objects share one getter and one hidden class. */
class LazyManagedFields extends Existing {
  // The encoded member; undefined once it is parsed.
  #source: string | undefined
  #value: unknown

  constructor(metadata: object, source: string) {
    super(metadata)
    this.#source = source
  }

  /** The parsed managed fields of an object that was given some; undefined for any other, such as a proxy. */
  static of(metadata: object): unknown {
    if (!(#source in metadata)) return undefined
    if (metadata.#source !== undefined) {
      metadata.#value = deepFreeze(JSON.parse(`{${metadata.#source}}`).managedFields)
      metadata.#source = undefined
    }
    return metadata.#value
  }
}

const descriptor: PropertyDescriptor = {
  get(this: object): unknown {
    return LazyManagedFields.of(this)
  },
  enumerable: true,
}

/**
 * Defines `managedFields` as an accessor that parses them on first access, then freezes the object. `source` is the
 * encoded member, with its key.
 */
export function addManagedFields(metadata: object, source: string): void {
  new LazyManagedFields(metadata, source)
  Object.freeze(Object.defineProperty(metadata, 'managedFields', descriptor))
}
