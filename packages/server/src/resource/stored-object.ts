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
    end += out.write(`"resourceVersion":"${this.revision}",`, end, 'latin1')
    out.set(inner === 0 ? raw : raw.subarray(inner), end)
    return end + raw.length - inner
  }

  /** Where the fields of metadata begin. What another program wrote is brought into our form first. */
  #begin(): number {
    if (this.#inner >= 0) return this.#inner
    const find = (): number =>
      Buffer.from(this.#raw.buffer, this.#raw.byteOffset, maxOf(this.#raw)).indexOf(openingBytes)
    if (find() < 0) this.#raw = encodeStored(this.object as MutableObject)
    return (this.#inner = find() + openingBytes.length)
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

const opening = '"metadata":{'
const openingBytes = Buffer.from(opening)
const brace = 0x7b
/** kind and apiVersion are short and come first, so that metadata begins within so many bytes. */
const maxPreamble = 300
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

function maxOf(raw: Uint8Array): number {
  return Math.min(raw.length, maxPreamble)
}
