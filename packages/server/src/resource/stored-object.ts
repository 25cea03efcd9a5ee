import { encodeJson, parseJson } from '@kubewright/api'
import { CaughtError, deepCopy, endOfJsonValue } from '@kubewright/base'
import type { Entry } from '@kubewright/storage'
import type { MutableObject } from './object.ts'
import { readProblem } from './read-problem.ts'
import { isStale } from './stale-values.ts'
import { ValueEncoder } from './value-encoder.ts'
import { ValueNotes } from './value-notes.ts'

const values = new ValueEncoder()

/** What is created from stored bytes when it is first needed. */
interface Forms {
  /** The JSON that clients receive. */
  bytes?: Buffer | undefined
  object?: Readonly<MutableObject> | undefined
  isWorkingForm?: boolean | undefined
}

/**
 * One version of a stored object. Its bytes and its parsed form are created when first needed and shared by all readers: neither may be
 * changed. {@link StoredObject.copy} returns a private copy.
 */
export class StoredObject {
  readonly key: string
  /** The store's revision, which clients see as resourceVersion. */
  readonly revision: number
  /** Whether the object has not been written since its creation. Known only for objects that were read from the store. */
  readonly isFirstVersion: boolean
  #raw: Uint8Array
  /** Offset of the fields of metadata in `#raw`; -1 until known. */
  #inner = -1
  #forms: Forms | undefined
  /** The result of the check; false until it has run. */
  #problem: string | undefined | false = false

  constructor(
    key: string,
    revision: number,
    raw: Uint8Array,
    object?: Readonly<MutableObject>,
    isFirstVersion = false,
  ) {
    this.isFirstVersion = isFirstVersion
    this.key = key
    this.revision = revision
    this.#raw = raw
    if (object) this.#forms = { object }
  }

  /** Why the stored bytes cannot be read as an object; undefined when they can. No other member may be used when they cannot. */
  get problem(): string | undefined {
    if (this.#problem === false) this.#problem = readProblem(this.#raw)
    return this.#problem
  }

  /** Whether an update without changes writes the object again, because its stored form is outdated. */
  get isStale(): boolean {
    return isStale(this.#raw)
  }

  /** The size of the stored bytes. */
  get size(): number {
    return this.#raw.length
  }

  /**
   * The forms that were created from the bytes. An identity for caches of further forms, such as conversions: a WeakMap with this key
   * forgets them with {@link StoredObject.releaseForms}.
   */
  get forms(): object {
    return (this.#forms ??= {})
  }

  /** Discards everything that was created from the stored bytes. It is created again when it is needed. */
  releaseForms(): void {
    this.#forms = undefined
  }

  /** The JSON that clients receive, with resourceVersion. */
  get bytes(): Buffer {
    const forms = (this.#forms ??= {})
    if (!forms.bytes) {
      const out = Buffer.allocUnsafe(this.itemSize)
      forms.bytes = out.subarray(0, this.writeItem(out, 0, true))
    }
    return forms.bytes
  }

  /** The JSON that clients receive, with a newline at its end, as the body of a response. Not kept. */
  responseBytes(): Buffer {
    const out = Buffer.allocUnsafe(this.itemSize + 1)
    const end = this.writeItem(out, 0, true)
    out[end] = newline
    return out.subarray(0, end + 1)
  }

  /** An upper bound of the bytes that {@link StoredObject.writeItem} writes. */
  get itemSize(): number {
    this.#begin()
    return this.#raw.length + maxVersionLength
  }

  /**
   * Writes the JSON into a buffer, with or without kind and apiVersion, and returns the offset behind it. Copies stored bytes and inserts
   * resourceVersion; parses and allocates nothing.
   */
  writeItem(out: Buffer, at: number, withTypeMeta: boolean): number {
    const inner = this.#begin()
    const raw = this.#raw
    const versionAt = at + (withTypeMeta ? inner : bareOpening.length)
    const rest = versionAt + versionLength(this.revision) + (raw[inner] === closingBrace ? 0 : 1)
    copyFrom(raw, inner, out, rest)
    if (withTypeMeta) for (let i = 0; i < inner; i++) out[at + i] = raw[i]!
    else for (let i = 0; i < bareOpening.length; i++) out[at + i] = bareOpening[i]!
    writeVersion(out, versionAt, this.revision)
    if (raw[inner] !== closingBrace) out[rest - 1] = comma
    return rest + raw.length - inner
  }

  /**
   * The JSON of a PartialObjectMetadata, cut out of the stored bytes: parses nothing and keeps nothing, because a watch of metadata may
   * start with all objects of a resource. `apiVersion` is a version of meta.k8s.io.
   */
  metadataBytes(apiVersion: string): Buffer {
    const inner = this.#begin()
    const raw = this.#raw
    const end = endOfJsonValue(raw, inner - 1, raw.length)
    if (end < 0) throw new CaughtError('The stored object ends within its metadata')
    const opening = `{"kind":"PartialObjectMetadata","apiVersion":"${apiVersion}","metadata":{`
    const isEmpty = raw[inner] === closingBrace
    const rest = opening.length + versionLength(this.revision) + (isEmpty ? 0 : 1)
    const out = Buffer.allocUnsafe(rest + end - inner + 1)
    out.write(opening, 0)
    writeVersion(out, opening.length, this.revision)
    if (!isEmpty) out[rest - 1] = comma
    out.set(raw.subarray(inner, end), rest)
    out[out.length - 1] = closingBrace
    return out
  }

  /** Where the fields of metadata begin. Bytes that another program stored in another order are encoded again first. */
  #begin(): number {
    if (this.#inner >= 0) return this.#inner
    let inner = metadataStart(this.#raw)
    if (inner < 0) {
      this.#raw = encodeStored(this.object as MutableObject)
      inner = metadataStart(this.#raw)
      if (inner < 0) throw new CaughtError(`The stored object ${this.key} has an invalid kind or apiVersion`)
    }
    return (this.#inner = inner)
  }

  /** The parsed object with resourceVersion. Shared: must not be changed. */
  get object(): Readonly<MutableObject> {
    const forms = (this.#forms ??= {})
    return (forms.object ??= this.#parse())
  }

  /**
   * Takes over the object that the bytes were encoded from, which has the {@link storedForm}: the next write of the object would parse
   * them again. The object must be exactly what a parse returns, and nothing may change it afterwards. `isWorkingForm` states whether it
   * is also the working form.
   */
  keepForm(form: MutableObject, isWorkingForm: boolean): void {
    this.#forms ??= {}
    if (this.#forms.object) return
    form.metadata.resourceVersion = String(this.revision)
    this.#forms.object = form
    this.#forms.isWorkingForm = isWorkingForm
  }

  /** Whether {@link StoredObject.object} is known to be the working form as well. */
  get isWorkingForm(): boolean {
    return this.#forms?.isWorkingForm ?? false
  }

  /** As {@link StoredObject.object}, but does not keep the parsed form: a list of many objects would fill the memory. */
  read(): Readonly<MutableObject> {
    return this.#forms?.object ?? this.#parse()
  }

  #parse(): Readonly<MutableObject> {
    const object = parseJson(this.#raw) as MutableObject
    object.metadata.resourceVersion = String(this.revision)
    return object
  }

  /** A copy that the caller may change. */
  copy(): MutableObject {
    return deepCopy(this.object) as MutableObject
  }

  /** The same content at another revision, as DELETED events show it. */
  at(revision: number): StoredObject {
    return new StoredObject(this.key, revision, this.#raw)
  }

  /** Whether the stored bytes are the same. */
  sameContent(raw: Uint8Array): boolean {
    return Buffer.compare(this.#raw, raw) === 0
  }
}

/**
 * The object of a store entry; the same one for the same value. Local stores return the same Uint8Array for a value every time, so that each
 * value is parsed once for all readers.
 */
export function storedObject(entry: Entry): StoredObject {
  let object = ValueNotes.objectOf(entry.value) as StoredObject | undefined
  if (!object || object.revision !== entry.modRevision) {
    const isFirst = entry.createRevision === entry.modRevision
    object = new StoredObject(entry.key, entry.modRevision, entry.value, undefined, isFirst)
    ValueNotes.setObject(entry.value, object)
  }
  return object
}

/** Objects beyond this number are not remembered: most of a million values are never read from the store again. */
const rememberedAtOnce = 10_000

/** The objects of the entries of a resource, for its cache. */
export function storedObjects(entries: readonly Entry[]): StoredObject[] {
  if (entries.length <= rememberedAtOnce) return entries.map(storedObject)
  return entries.map(({ key, modRevision, value, createRevision }) => {
    return new StoredObject(key, modRevision, value, undefined, createRevision === modRevision)
  })
}

/** The start of an item without kind and apiVersion. */
const bareOpening = Buffer.from('{"metadata":{')
const kindBytes = Buffer.from('{"kind":"')
const apiVersionBytes = Buffer.from('","apiVersion":"')
const metadataBytes = Buffer.from('","metadata":{')
const newline = 0x0a
const comma = 0x2c
const closingBrace = 0x7d
const quote = 0x22
/** `"resourceVersion":"9007199254740991",` and a brace. */
const maxVersionLength = 40

const versionOpening = Buffer.from('"resourceVersion":"')
const zero = 0x30

/** The bytes that {@link writeVersion} writes. */
function versionLength(revision: number): number {
  let digits = 1
  for (let bound = 10; revision >= bound; bound *= 10) digits++
  return versionOpening.length + digits + 1
}

/** Writes the field resourceVersion. A list has thousands of them: a string and a native call for each would take longer. */
function writeVersion(out: Buffer, at: number, revision: number): void {
  for (let i = 0; i < versionOpening.length; i++) out[at + i] = versionOpening[i]!
  let end = at + versionLength(revision) - 1
  out[end] = quote
  for (let left = revision; end > at + versionOpening.length; left = Math.floor(left / 10))
    out[--end] = zero + (left % 10)
}

const saved = new Uint8Array(256)

/**
 * Copies the bytes of `raw` from `start` on to the offset `at`. Creating a view of a part costs more than copying a few bytes, so all
 * of `raw` is copied where there is room, and the bytes before `at` are restored.
 */
function copyFrom(raw: Uint8Array, start: number, out: Buffer, at: number): void {
  const begin = at - start
  if (begin < 0 || start > saved.length) {
    out.set(raw.subarray(start), at)
    return
  }
  for (let i = 0; i < start; i++) saved[i] = out[begin + i]!
  out.set(raw, begin)
  for (let i = 0; i < start; i++) out[begin + i] = saved[i]!
}

/**
 * The form in which an object is encoded for the store: kind, apiVersion and metadata come first, and resourceVersion is left out.
 * Because of the fixed order, {@link StoredObject} can insert resourceVersion into the bytes without parsing them. Object and metadata are
 * new, everything else is shared with the argument.
 */
export function storedForm(object: MutableObject): MutableObject {
  const { kind, apiVersion, metadata, ...rest } = object
  const { resourceVersion: _, ...meta } = metadata
  return { kind, apiVersion, metadata: meta, ...rest }
}

/** Encodes an object for the store, in the {@link storedForm}. */
export function encodeStored(object: MutableObject): Uint8Array {
  return encodeForm(storedForm(object))
}

/** Encodes an object that has the {@link storedForm}. */
export function encodeForm(form: MutableObject): Uint8Array {
  return values.encode(encodeJson(form))
}

/**
 * Where the fields of metadata begin in the form of {@link encodeStored}, or -1 for any other form. Kind and apiVersion contain no quotes
 * or escapes, and their length does not matter: a search for `"metadata":{` could find it inside another field.
 */
function metadataStart(raw: Uint8Array): number {
  if (!hasAt(raw, kindBytes, 0)) return -1
  const kindEnd = raw.indexOf(quote, kindBytes.length)
  if (!hasAt(raw, apiVersionBytes, kindEnd)) return -1
  const apiVersionEnd = raw.indexOf(quote, kindEnd + apiVersionBytes.length)
  return hasAt(raw, metadataBytes, apiVersionEnd) ? apiVersionEnd + metadataBytes.length : -1
}

/** Whether `bytes` contains `part` at an offset. Compares in place: a native call for a few bytes takes longer. */
function hasAt(bytes: Uint8Array, part: Uint8Array, at: number): boolean {
  if (at < 0 || bytes.length < at + part.length) return false
  for (let i = 0; i < part.length; i++) if (bytes[at + i] !== part[i]) return false
  return true
}
