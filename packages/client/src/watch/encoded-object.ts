import { deepFreeze } from '@kubewright/base'
import { Walk } from './json-scan.ts'
import { addManagedFields } from './lazy-managed-fields.ts'
import { type EncodedParts, lazyObject, Members } from './lazy-members.ts'

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

/** The decoded form of an object in a cache. */
export interface CachedForm<T> {
  readonly value: T | undefined
  wasRead: boolean
}

/**
 * An object in its wire encoding. Key and resource version are available directly; everything else is parsed on each
 * access. The bytes can be moved to another buffer without effect on readers. Decoded objects do not refer to them.
 */
export class EncodedObject<T> {
  /** `namespace/name`, or the name alone without a namespace; empty when the object has no name. */
  readonly key: string
  #resourceVersion: string
  #type: EncodedType<T>
  // The text of a detached object, which has no bytes.
  #home: ByteHome | string
  #start: number
  #end: number
  #decodes = 0
  /** The number of readers that need the present contents: the object must not be renewed. */
  pins = 0
  /** The decoded form, as long as a cache keeps it; afterwards the time of the cache when it was decoded. */
  cached: CachedForm<T> | number | undefined = undefined
  // The managed fields with the comma before them, relative to the start; 0 when they were not located.
  #fieldsStart = 0
  #fieldsEnd = 0
  // The parts of the usual layout, relative to the start; 0 for any other layout.
  #metadataEnd = 0
  #specEnd = 0

  constructor(
    type: EncodedType<T>,
    key: string,
    resourceVersion: string,
    home: ByteHome,
    start: number,
    end: number,
    parts?: EncodedParts,
  ) {
    if (parts !== undefined && parts.fieldsStart > 0) {
      this.#fieldsStart = parts.fieldsStart - start
      this.#fieldsEnd = parts.fieldsEnd - start
    }
    if (parts !== undefined && parts.metadataEnd > 0) {
      this.#metadataEnd = parts.metadataEnd - start
      this.#specEnd = parts.specEnd - start
    }
    this.#type = type
    this.key = key
    this.#resourceVersion = resourceVersion
    this.#home = home
    this.#start = start
    this.#end = end
  }

  get resourceVersion(): string {
    return this.#resourceVersion
  }

  get type(): EncodedType<T> {
    return this.#type
  }

  /** The number of bytes. */
  get size(): number {
    return this.#end - this.#start
  }

  /** The number of times the contents were decoded. */
  get decodes(): number {
    return this.#decodes
  }

  /** The buffer that contains the bytes. */
  get home(): ByteHome {
    return typeof this.#home === 'string' ? nowhere : this.#home
  }

  /** The position of the first byte in the buffer. */
  get start(): number {
    return this.#start
  }

  /**
   * Returns the deeply frozen object. In the usual layout, metadata, spec, status and `metadata.managedFields` are
   * accessors that parse their values on first access. `source` is an object with the same contents to be parsed instead.
   */
  decode(source: EncodedObject<T> = this): T {
    this.#decodes++
    return source.#decodeLazily() ?? source.#decodeWithoutFields() ?? (deepFreeze(source.parse()) as T)
  }

  /** Undefined for unusual layouts. */
  #decodeLazily(): T | undefined {
    if (this.#metadataEnd === 0) return undefined
    const text = this.#slice(0, this.size)
    // Positions in bytes are positions in the text only if all characters are ASCII.
    if (text.length !== this.size) return undefined
    const { apiVersion, kind, read } = this.#type
    const members = new Members(text, {
      metadataEnd: this.#metadataEnd,
      specEnd: this.#specEnd,
      fieldsStart: this.#fieldsStart,
      fieldsEnd: this.#fieldsEnd,
    })
    const object = lazyObject(apiVersion, kind, members)
    const value = read(object)
    return (value === object ? Object.freeze(object) : deepFreeze(value)) as T
  }

  /** Undefined when the managed fields were not located, or the type copies the metadata. */
  #decodeWithoutFields(): T | undefined {
    if (this.#fieldsStart === 0) return undefined
    const size = this.size
    const json: unknown = JSON.parse(this.#slice(0, this.#fieldsStart) + this.#slice(this.#fieldsEnd, size))
    const { metadata } = json as { readonly metadata: Readonly<Record<string, unknown>> }
    const value = this.#type.read(json) as { readonly metadata?: unknown }
    if (value.metadata !== metadata) return undefined
    // Children first: freezing an object reads all its properties, which would parse the managed fields.
    for (const name in metadata) deepFreeze(metadata[name])
    // After the comma: the key, a colon and the list.
    addManagedFields(metadata, this.#slice(this.#fieldsStart + 1, this.#fieldsEnd))
    return deepFreeze(value) as T
  }

  /** The text of a range of the bytes. */
  #slice(start: number, end: number): string {
    const home = this.#home
    if (typeof home === 'string') return home.slice(start, end)
    return home.bytes.toString('utf8', this.#start + start, this.#start + end)
  }

  /** Parses the object. The caller may modify the result. */
  parse(): T {
    return this.#type.read(JSON.parse(this.#slice(0, this.size)))
  }

  /** An encoded object with the same key and version whose contents are `value`. */
  recoded(value: T): EncodedObject<T> {
    const bytes = Buffer.from(JSON.stringify(value))
    return new EncodedObject(this.#type, this.key, this.#resourceVersion, { bytes }, 0, bytes.length)
  }

  /** Parses only the labels, which is much cheaper than decoding. */
  labels(): Readonly<Record<string, string>> | undefined {
    const meta = this.#metadata()
    const { bytes } = this.home
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
    this.#withBytes().copy(home.bytes, start, this.#start, this.#end)
    this.#home = home
    this.#start = start
    this.#end = start + size
  }

  /** An object with the same contents, which does not change with this one. */
  clone(): EncodedObject<T> {
    const copy = new EncodedObject(this.#type, this.key, this.#resourceVersion, this.home, this.#start, this.#end)
    copy.#home = this.#home
    copy.#fieldsStart = this.#fieldsStart
    copy.#fieldsEnd = this.#fieldsEnd
    copy.#metadataEnd = this.#metadataEnd
    copy.#specEnd = this.#specEnd
    return copy
  }

  /**
   * Copies the contents to a string, so that the object does not keep a large buffer alive, nor depends on one that
   * will be reused. For objects that are dropped soon: collecting a string costs much less than collecting a buffer.
   */
  detach(): void {
    const home = this.#home
    if (typeof home === 'string') return
    const size = this.size
    const text = this.#slice(0, size)
    // Positions in bytes are positions in the text only if all characters are ASCII.
    if (text.length === size) this.#home = text
    else this.#home = { bytes: Buffer.from(home.bytes.subarray(this.#start, this.#end)) }
    this.#start = 0
    this.#end = size
  }

  /** Takes over the contents of another version of the object, including its home. */
  renew(next: EncodedObject<T>): void {
    this.#type = next.#type
    this.#resourceVersion = next.#resourceVersion
    this.#home = next.#home
    this.#start = next.#start
    this.#end = next.#end
    this.#fieldsStart = next.#fieldsStart
    this.#fieldsEnd = next.#fieldsEnd
    this.#metadataEnd = next.#metadataEnd
    this.#specEnd = next.#specEnd
    this.#decodes = 0
  }

  /** The bytes. A detached object gets them back with the first access. */
  #withBytes(): Buffer {
    if (typeof this.#home === 'string') this.#home = { bytes: Buffer.from(this.#home) }
    return this.#home.bytes
  }

  /** The object without `metadata.managedFields`, which often make up half of its bytes. */
  withoutManagedFields(): EncodedObject<T> {
    const cut = this.#managedFields()
    if (cut === undefined) return this
    const bytes = this.#withBytes()
    const kept = Buffer.allocUnsafe(this.size - (cut.end - cut.start))
    bytes.copy(kept, 0, this.#start, cut.start)
    bytes.copy(kept, cut.start - this.#start, cut.end, this.#end)
    return new EncodedObject(this.#type, this.key, this.#resourceVersion, { bytes: kept }, 0, kept.length)
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
    const bytes = this.#withBytes()
    const walk = new Walk(bytes, this.#start, this.#end)
    while (walk.next()) if (walk.isKey(metadataWord)) return new Walk(bytes, walk.valueStart, this.#end)
    return undefined
  }
}

/** The home of objects without bytes. */
const nowhere: ByteHome = { bytes: Buffer.alloc(0) }
const metadataWord = Buffer.from('metadata')
const labelsWord = Buffer.from('labels')
const managedFieldsWord = Buffer.from('managedFields')
