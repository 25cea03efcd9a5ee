import { encodeJson, parseJson } from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import type { Entry } from '@kubewright/storage'
import type { MutableObject } from './object.ts'

const encoder = new TextEncoder()

/**
 * One version of a stored object: its bytes as clients get them, and its parsed form when somebody needs it. Both are shared by all
 * readers, so neither may be changed; {@link StoredObject.copy} gives a private one.
 */
export class StoredObject {
  readonly key: string
  /** The revision that resourceVersion shows. */
  readonly revision: number
  #raw: Uint8Array
  /** Where the fields of metadata begin in the raw form; -1 until it is known. */
  #inner = -1
  #bytes: Buffer | undefined
  #object: Readonly<MutableObject> | undefined

  constructor(key: string, revision: number, raw: Uint8Array, object?: Readonly<MutableObject>) {
    this.key = key
    this.revision = revision
    this.#raw = raw
    this.#object = object
  }

  /** The JSON that clients get, with resourceVersion; made once. */
  get bytes(): Buffer {
    if (!this.#bytes) {
      const out = Buffer.allocUnsafe(this.itemSize)
      this.#bytes = out.subarray(0, this.writeItem(out, 0, true))
    }
    return this.#bytes
  }

  /** The most bytes that {@link StoredObject.writeItem} writes. */
  get itemSize(): number {
    this.#begin()
    return this.#raw.length + maxVersionLength
  }

  /**
   * Writes the JSON as an item of a list and returns where it ends. Items of built-in kinds leave kind and apiVersion to the list.
   * Nothing is made for it but what is written.
   */
  writeItem(out: Buffer, at: number, withTypeMeta: boolean): number {
    const inner = this.#begin()
    const raw = this.#raw
    let end = at
    if (withTypeMeta) {
      out.set(raw.subarray(0, inner), end)
      end += inner
    } else {
      out[end++] = brace
      end += openingBytes.copy(out, end)
    }
    const separator = raw[inner] === closingBrace ? '' : ','
    end += out.write(`"resourceVersion":"${this.revision}"${separator}`, end, 'latin1')
    out.set(inner === 0 ? raw : raw.subarray(inner), end)
    return end + raw.length - inner
  }

  /** Where the fields of metadata begin. Bytes that another program stored in another order are encoded again first. */
  #begin(): number {
    if (this.#inner >= 0) return this.#inner
    let inner = metadataStart(this.#raw)
    if (inner < 0) {
      this.#raw = encodeStored(this.object as MutableObject)
      inner = metadataStart(this.#raw)
      if (inner < 0) throw new Error(`The stored object ${this.key} has an invalid kind or apiVersion`)
    }
    return (this.#inner = inner)
  }

  /** The parsed object with resourceVersion; parsed once, and not to be changed. */
  get object(): Readonly<MutableObject> {
    if (!this.#object) {
      const object = parseJson(this.#raw) as MutableObject
      object.metadata.resourceVersion = String(this.revision)
      this.#object = object
    }
    return this.#object
  }

  /** A copy that the caller may change. */
  copy(): MutableObject {
    return deepCopy(this.object) as MutableObject
  }

  /** The same content under another revision: what a deletion shows. */
  at(revision: number): StoredObject {
    return new StoredObject(this.key, revision, this.#raw)
  }

  /** Whether the stored form of an object is the same as this one. */
  sameContent(raw: Uint8Array): boolean {
    return Buffer.compare(this.#raw, raw) === 0
  }
}

// A value's bytes are the same Uint8Array wherever a local store hands them out, so its object is made once.
const known = new WeakMap<Uint8Array, StoredObject>()

/** The object of a store entry. */
export function storedObject(entry: Entry): StoredObject {
  let object = known.get(entry.value)
  if (!object || object.revision !== entry.modRevision) {
    object = new StoredObject(entry.key, entry.modRevision, entry.value)
    known.set(entry.value, object)
  }
  return object
}

const openingBytes = Buffer.from('"metadata":{')
const kindBytes = Buffer.from('{"kind":"')
const apiVersionBytes = Buffer.from('","apiVersion":"')
const metadataBytes = Buffer.from('","metadata":{')
const brace = 0x7b
const closingBrace = 0x7d
const quote = 0x22
/** `"resourceVersion":"9007199254740991",` and a brace. */
const maxVersionLength = 40

/**
 * The stored form: kind, apiVersion and metadata first, no resourceVersion. The fixed beginning is what lets {@link StoredObject}
 * add the version to the bytes without parsing them.
 */
export function encodeStored(object: MutableObject): Uint8Array {
  const { kind, apiVersion, metadata, ...rest } = object
  const { resourceVersion: _, ...meta } = metadata
  return encoder.encode(encodeJson({ kind, apiVersion, metadata: meta, ...rest }))
}

/**
 * Where the fields of metadata begin in the form of {@link encodeStored}, or -1 for any other form. Kind and apiVersion contain no quotes
 * or escapes, and their length does not matter: a search for `"metadata":{` could find it inside another field.
 */
function metadataStart(raw: Uint8Array): number {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.length)
  const startsWith = (part: Buffer, at: number): boolean =>
    at >= 0 && bytes.length >= at + part.length && bytes.compare(part, 0, part.length, at, at + part.length) === 0
  if (!startsWith(kindBytes, 0)) return -1
  const kindEnd = bytes.indexOf(quote, kindBytes.length)
  if (!startsWith(apiVersionBytes, kindEnd)) return -1
  const apiVersionEnd = bytes.indexOf(quote, kindEnd + apiVersionBytes.length)
  return startsWith(metadataBytes, apiVersionEnd) ? apiVersionEnd + metadataBytes.length : -1
}
