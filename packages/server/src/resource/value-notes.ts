/** Returns its argument, so that a derived class adds its private fields to an existing object. */
class Existing {
  constructor(value: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the purpose of the class
    return value
  }
}

/**
 * What the server knows about a stored value, in private fields of its bytes. A weak map of all values would do the same, but the garbage
 * collector visits all its entries in each collection, which takes long with a hundred thousand objects and their history.
 */
export class ValueNotes extends Existing {
  #object: object | undefined
  #isReadable = false

  /** The object that was made of the value; undefined for none. */
  static objectOf(value: Uint8Array): object | undefined {
    return #object in value ? (value as ValueNotes).#object : undefined
  }

  static setObject(value: Uint8Array, object: object): void {
    notesOf(value).#object = object
  }

  /** Whether the value is known to be readable. */
  static isReadable(value: Uint8Array): boolean {
    return #isReadable in value && (value as ValueNotes).#isReadable
  }

  static markReadable(value: Uint8Array): void {
    notesOf(value).#isReadable = true
  }

  static isIn(value: object): value is ValueNotes {
    return #object in value
  }
}

function notesOf(value: Uint8Array): ValueNotes {
  return ValueNotes.isIn(value) ? value : new ValueNotes(value)
}
