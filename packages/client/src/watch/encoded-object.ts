import { deepFreeze } from '@kubewright/base'
import { Walk } from './json-scan.ts'
import { addManagedFields } from './lazy-managed-fields.ts'

/** A buffer that contains encoded objects: a chunk of a stream, a page of a list, a slab of a store. */
export interface ByteHome {
  readonly bytes: Buffer
}

/** What the encoded objects of one source have in common. */
export interface EncodedType<T> {
  readonly apiVersion: string
  readonly kind: string
  /** Converts the parsed JSON of an object to the type that readers get. */
  readonly read: (json: unknown) => T
}

/** The positions of the comma before the managed fields and of their end; both 0 without managed fields. */
export interface ManagedFieldsSpan {
  readonly fieldsStart: number
  readonly fieldsEnd: number
}

/**
 * An object in its wire encoding. Key and resource version are available directly; everything else is parsed on each
 * access. The bytes can be moved to another buffer without effect on readers.
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
  // The managed fields with the comma before them, relative to the start; 0 when they were not located.
  readonly #fieldsStart: number
  readonly #fieldsEnd: number

  constructor(
    type: EncodedType<T>,
    key: string,
    resourceVersion: string,
    home: ByteHome,
    start: number,
    end: number,
    managedFields?: ManagedFieldsSpan,
  ) {
    this.#fieldsStart = managedFields?.fieldsStart ? managedFields.fieldsStart - start : 0
    this.#fieldsEnd = managedFields?.fieldsStart ? managedFields.fieldsEnd - start : 0
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

  /** The number of times the object was decoded. */
  get decodes(): number {
    return this.#decodes
  }

  /** The buffer that contains the bytes. */
  get home(): ByteHome {
    return this.#home
  }

  /**
   * Parses the object and freezes it deeply. `metadata.managedFields`, often half of the bytes, become an accessor that
   * parses them on first access.
   */
  decode(): T {
    this.#decodes++
    return this.#decodeLazily() ?? (deepFreeze(this.parse()) as T)
  }

  /** Undefined when the managed fields were not located, or the type copies the metadata. */
  #decodeLazily(): T | undefined {
    if (this.#fieldsStart === 0) return undefined
    const { bytes } = this.#home
    const start = this.#start
    const json: unknown = JSON.parse(
      bytes.toString('utf8', start, start + this.#fieldsStart) +
        bytes.toString('utf8', start + this.#fieldsEnd, this.#end),
    )
    const { metadata } = json as { readonly metadata: Readonly<Record<string, unknown>> }
    const value = this.type.read(json) as { readonly metadata?: unknown }
    if (value.metadata !== metadata) return undefined
    // Children first: freezing an object reads all its properties, which would parse the managed fields.
    for (const name in metadata) deepFreeze(metadata[name])
    addManagedFields(metadata, this)
    return deepFreeze(value) as T
  }

  /** Parses the managed fields only. */
  parseManagedFields(): unknown {
    const { bytes } = this.#home
    const start = this.#start + this.#fieldsStart
    // After the comma: the key, a colon and the list.
    return JSON.parse(`{${bytes.toString('utf8', start + 1, this.#start + this.#fieldsEnd)}}`).managedFields
  }

  /** Parses the object. The caller may modify the result. */
  parse(): T {
    return this.type.read(JSON.parse(this.#home.bytes.toString('utf8', this.#start, this.#end)))
  }

  /** An encoded object with the same key and version whose contents are `value`. */
  recoded(value: T): EncodedObject<T> {
    const bytes = Buffer.from(JSON.stringify(value))
    return new EncodedObject(this.type, this.key, this.resourceVersion, { bytes }, 0, bytes.length)
  }

  /** Parses only the labels, which is much cheaper than decoding. */
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

  /** Moves the bytes to another buffer, which must have room. The object then reads from that buffer and releases the old one. */
  moveTo(home: ByteHome, start: number): void {
    const size = this.size
    this.#home.bytes.copy(home.bytes, start, this.#start, this.#end)
    this.#home = home
    this.#start = start
    this.#end = start + size
  }

  /** Copies the bytes to a buffer of their own, so that they do not keep a larger one alive. */
  detach(): void {
    this.moveTo({ bytes: Buffer.allocUnsafe(this.size) }, 0)
  }

  /** The object without `metadata.managedFields`, which often make up half of its bytes. */
  withoutManagedFields(): EncodedObject<T> {
    const cut = this.#managedFields()
    if (cut === undefined) return this
    const { bytes } = this.#home
    const kept = Buffer.allocUnsafe(this.size - (cut.end - cut.start))
    bytes.copy(kept, 0, this.#start, cut.start)
    bytes.copy(kept, cut.start - this.#start, cut.end, this.#end)
    return new EncodedObject(this.type, this.key, this.resourceVersion, { bytes: kept }, 0, kept.length)
  }

  /** The byte range of the member and one adjacent comma. */
  #managedFields(): { readonly start: number; readonly end: number } | undefined {
    if (this.#fieldsStart > 0) return { start: this.#start + this.#fieldsStart, end: this.#start + this.#fieldsEnd }
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
