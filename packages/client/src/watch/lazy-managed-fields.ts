import { deepFreeze } from '@kubewright/base'

/** An object whose managed fields can be parsed. */
interface ManagedFieldsSource {
  parseManagedFields(): unknown
}

/** Returns its argument, so that a derived class adds its private fields to an existing object. */
class Existing {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the purpose of the class
    return object
  }
}

/** Private state of a metadata object. Unlike closures, it lets all metadata objects share one getter and one hidden class. */
class LazyManagedFields extends Existing {
  #source: ManagedFieldsSource | undefined
  #value: unknown

  constructor(metadata: object, source: ManagedFieldsSource) {
    super(metadata)
    this.#source = source
  }

  /** The parsed managed fields of an object that was given some; undefined for any other, such as a proxy. */
  static of(metadata: object): unknown {
    if (!(#source in metadata)) return undefined
    if (metadata.#source !== undefined) {
      metadata.#value = deepFreeze(metadata.#source.parseManagedFields())
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

/** Defines `managedFields` as an accessor that parses them on first access, then freezes the object. */
export function addManagedFields(metadata: object, source: ManagedFieldsSource): void {
  new LazyManagedFields(metadata, source)
  Object.freeze(Object.defineProperty(metadata, 'managedFields', descriptor))
}
