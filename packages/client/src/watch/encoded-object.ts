import { deepFreeze } from '@kubewright/base'
import { Walk } from './json-scan.ts'

/** Bytes that objects lie in: a chunk of a stream, a page of a list, a slab of a store. */
export interface ByteHome {
  readonly bytes: Buffer
}

/** What the encoded objects of one source have in common. */
export interface EncodedType<T> {
  readonly apiVersion: string
  readonly kind: string
  /** Turns the parsed JSON of an object into what readers get. */
  readonly read: (json: unknown) => T
}

/**
 * An object as it came over the wire. What a cache has to know of it is at hand; the rest is parsed when somebody looks, each time
 * anew. Its bytes can be moved, which nobody notices.
 */
export class EncodedObject<T> {
  /** `namespace/name`, or the name alone without a namespace; empty when the object has no name. */
  readonly key: string
  readonly resourceVersion: string
  readonly type: EncodedType<T>
  #home: ByteHome
  #start: number
  #end: number
  #decodes = 0

  constructor(type: EncodedType<T>, key: string, resourceVersion: string, home: ByteHome, start: number, end: number) {
    this.type = type
    this.key = key
    this.resourceVersion = resourceVersion
    this.#home = home
    this.#start = start
    this.#end = end
  }

  /** The number of bytes. */
  get size(): number {
    return this.#end - this.#start
  }

  /** How often it was decoded. */
  get decodes(): number {
    return this.#decodes
  }

  /** Where the bytes are. */
  get home(): ByteHome {
    return this.#home
  }

  /** The object, parsed and deeply frozen. */
  decode(): T {
    this.#decodes++
    return deepFreeze(this.parse()) as T
  }

  /** The object, parsed and the caller's to change. */
  parse(): T {
    return this.type.read(JSON.parse(this.#home.bytes.toString('utf8', this.#start, this.#end)))
  }

  /** Another form of the same object: what is encoded is `value`. */
  recoded(value: T): EncodedObject<T> {
    const bytes = Buffer.from(JSON.stringify(value))
    return new EncodedObject(this.type, this.key, this.resourceVersion, { bytes }, 0, bytes.length)
  }

  /** Its labels alone, for a fraction of what decoding costs. */
  labels(): Readonly<Record<string, string>> | undefined {
    const { bytes } = this.#home
    const meta = this.#metadata()
    if (meta === undefined) return undefined
    while (meta.next()) {
      const end = meta.skip()
      if (meta.isKey(labelsWord) && end > 0) {
        return (JSON.parse(bytes.toString('utf8', meta.valueStart, end)) ?? undefined) as Record<string, string>
      }
    }
    return undefined
  }

  /** Copies the bytes to another place, and is there from now on. There must be room. */
  moveTo(home: ByteHome, start: number): void {
    const size = this.size
    this.#home.bytes.copy(home.bytes, start, this.#start, this.#end)
    this.#home = home
    this.#start = start
    this.#end = start + size
  }

  /** Copies the bytes to a place of their own, so that nothing else is kept alive by them. */
  detach(): void {
    this.moveTo({ bytes: Buffer.allocUnsafe(this.size) }, 0)
  }

  /** The same object without `metadata.managedFields`, which often are half of its bytes. */
  withoutManagedFields(): EncodedObject<T> {
    const cut = this.#managedFields()
    if (cut === undefined) return this
    const { bytes } = this.#home
    const kept = Buffer.allocUnsafe(this.size - (cut.end - cut.start))
    bytes.copy(kept, 0, this.#start, cut.start)
    bytes.copy(kept, cut.start - this.#start, cut.end, this.#end)
    return new EncodedObject(this.type, this.key, this.resourceVersion, { bytes: kept }, 0, kept.length)
  }

  /** The member, with the one comma that belongs to it. */
  #managedFields(): { readonly start: number; readonly end: number } | undefined {
    const meta = this.#metadata()
    let before: number | undefined
    while (meta?.next()) {
      const end = meta.skip()
      if (meta.isKey(managedFieldsWord)) {
        if (before !== undefined) return { start: before, end }
        const { start } = meta
        return { start, end: meta.next() ? meta.start : end }
      }
      before = end
    }
    return undefined
  }

  #metadata(): Walk | undefined {
    const { bytes } = this.#home
    const walk = new Walk(bytes, this.#start, this.#end)
    while (walk.next()) if (walk.isKey(metadataWord)) return new Walk(bytes, walk.valueStart, this.#end)
    return undefined
  }
}

const metadataWord = Buffer.from('metadata')
const labelsWord = Buffer.from('labels')
const managedFieldsWord = Buffer.from('managedFields')
