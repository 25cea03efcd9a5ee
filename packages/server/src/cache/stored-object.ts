import { parseJson } from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import type { Entry } from '@kubewright/storage'
import type { MutableObject } from '../registry/resource.ts'

const decoder = new TextDecoder()
const encoder = new TextEncoder()

/**
 * One version of a stored object: its bytes as clients get them, and its parsed form when somebody needs it. Both are shared by all
 * readers, so neither may be changed; {@link StoredObject.copy} gives a private one.
 */
export class StoredObject {
  readonly key: string
  /** The revision that resourceVersion shows. */
  readonly revision: number
  readonly #raw: Uint8Array
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
    return (this.#bytes ??= injectVersion(this.#raw, this.revision))
  }

  /** The JSON as an item of a list of built-in objects, which leave kind and apiVersion to the list. Without its opening brace. */
  get itemBytes(): Buffer {
    const at = this.bytes.indexOf(opening)
    return this.bytes.subarray(at)
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

/**
 * The stored form: kind, apiVersion and metadata first, no resourceVersion. The fixed beginning is what lets {@link StoredObject}
 * add the version to the bytes without parsing them.
 */
export function encodeStored(object: MutableObject, encode: (value: unknown) => string): Uint8Array {
  const { kind, apiVersion, metadata, ...rest } = object
  const { resourceVersion: _, ...meta } = metadata
  return encoder.encode(encode({ kind, apiVersion, metadata: meta, ...rest }))
}

function injectVersion(raw: Uint8Array, revision: number): Buffer {
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  // kind and apiVersion are short and come first, so the search ends after a few bytes.
  const at = bytes.indexOf(opening)
  if (at < 0 || at > 300) return Buffer.from(reencode(raw, revision))
  const end = at + opening.length
  const version = Buffer.from(`"resourceVersion":"${revision}",`, 'latin1')
  const out = Buffer.allocUnsafe(bytes.length + version.length)
  bytes.copy(out, 0, 0, end)
  version.copy(out, end)
  bytes.copy(out, end + version.length, end)
  return out
}

/** For data that another program wrote: slower, and right for any JSON. */
function reencode(raw: Uint8Array, revision: number): string {
  const object = JSON.parse(decoder.decode(raw)) as MutableObject
  object.metadata.resourceVersion = String(revision)
  return JSON.stringify(object)
}
