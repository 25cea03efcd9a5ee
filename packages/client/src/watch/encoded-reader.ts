import { type ByteHome, EncodedObject, type EncodedType } from './encoded-object.ts'
import { isWord, skipSpace, stringAt, Walk } from './json-scan.ts'
import type { EncodedParts } from './lazy-members.ts'

const quote = 0x22
const comma = 0x2c
const slash = 0x2f
const backslash = 0x5c

const apiVersionWord = Buffer.from('apiVersion')
const kindWord = Buffer.from('kind')
const metadataWord = Buffer.from('metadata')
const nameWord = Buffer.from('name')
const namespaceWord = Buffer.from('namespace')
const resourceVersionWord = Buffer.from('resourceVersion')
const managedFieldsWord = Buffer.from('managedFields')
const specWord = Buffer.from('spec')
const statusWord = Buffer.from('status')
const itemsWord = Buffer.from('items')

/** Parameters of {@link EncodedReader}. */
export interface EncodedReaderParts<T> extends EncodedType<T> {
  /**
   * Whether all objects have this type regardless of what they declare, as with requests for metadata only. @default
   * false
   */
  readonly isFixed?: boolean | undefined
}

/** A page of a list with encoded objects. */
export interface EncodedPage<T> {
  readonly items: readonly EncodedObject<T>[]
  readonly resourceVersion: string
  /** Present when more pages follow. */
  readonly continue?: string | undefined
  readonly remaining?: number | undefined
}

/** Locates objects in bytes and reads their keys and versions without parsing them. */
export class EncodedReader<T> {
  readonly #parts: EncodedReaderParts<T>
  readonly #apiVersion: Uint8Array
  readonly #kind: Uint8Array
  // Keys are assembled here, so that each becomes one flat string.
  #scratch = Buffer.allocUnsafe(512)
  /** The position after the object that was read last. */
  end = -1

  constructor(parts: EncodedReaderParts<T>) {
    this.#parts = parts
    this.#apiVersion = Buffer.from(`"${parts.apiVersion}"`)
    this.#kind = Buffer.from(`"${parts.kind}"`)
  }

  /**
   * The object that starts at `start`. Undefined when it does not end before `limit`, or must be parsed to be
   * understood.
   */
  read(home: ByteHome, start: number, limit: number): EncodedObject<T> | undefined {
    const { bytes } = home
    const walk = new Walk(bytes, start, limit)
    const head = new Head()
    while (walk.next()) {
      const isMetadata = walk.isKey(metadataWord)
      if (isMetadata) walk.valueEnd = readMetadata(bytes, walk.valueStart, limit, head)
      const end = walk.skip()
      if (end < 0) return undefined
      if (walk.isKey(apiVersionWord)) {
        head.apiVersionStart = walk.valueStart
        head.apiVersionEnd = end
      } else if (walk.isKey(kindWord)) {
        head.kindStart = walk.valueStart
        head.kindEnd = end
      } else if (isMetadata) head.metadata(walk, end)
      else head.member(walk, end)
    }
    this.end = walk.end
    if (walk.end < 0 || head.versionEnd === 0) return undefined
    const key = this.#key(bytes, head)
    const version = stringAt(bytes, head.versionStart, head.versionEnd)
    if (key === undefined || version === undefined) return undefined
    const type = this.#typeOf(bytes, head)
    head.finish(walk.end, type)
    return new EncodedObject(type, key, version, home, start, walk.end, head)
  }

  /** Encodes an object that had to be parsed. */
  encode(json: unknown): EncodedObject<T> {
    const { apiVersion, kind, metadata } = (json ?? {}) as Partial<Record<string, unknown>>
    const { name, namespace, resourceVersion } = (metadata ?? {}) as Partial<Record<string, unknown>>
    const key = typeof name !== 'string' ? '' : namespace ? `${String(namespace)}/${name}` : name
    const bytes = Buffer.from(JSON.stringify(json ?? null))
    const own = typeof kind === 'string' && typeof apiVersion === 'string' && !this.#parts.isFixed
    const type = own ? { ...this.#parts, apiVersion, kind } : this.#parts
    const version = typeof resourceVersion === 'string' ? resourceVersion : ''
    return new EncodedObject(type, key, version, { bytes }, 0, bytes.length)
  }

  /** Reads a page of a list. Undefined when it must be parsed to be understood. */
  readPage(bytes: Buffer): EncodedPage<T> | undefined {
    const home = { bytes }
    const walk = new Walk(bytes, skipSpace(bytes, 0, bytes.length), bytes.length)
    let items: EncodedObject<T>[] | undefined = []
    let meta: ListFacts = {}
    while (walk.next()) {
      if (walk.isKey(itemsWord) && bytes[walk.valueStart] === 0x5b) {
        items = this.#items(home, walk)
        if (items === undefined) return undefined
      } else if (walk.isKey(metadataWord)) {
        const end = walk.skip()
        if (end < 0) return undefined
        meta = (JSON.parse(bytes.toString('utf8', walk.valueStart, end)) ?? {}) as ListFacts
      }
    }
    if (walk.end < 0 || skipSpace(bytes, walk.end, bytes.length) !== bytes.length) return undefined
    return pageOf(items, meta)
  }

  #items(home: ByteHome, list: Walk): EncodedObject<T>[] | undefined {
    const { bytes } = home
    const items: EncodedObject<T>[] = []
    const walk = new Walk(bytes, list.valueStart, bytes.length)
    while (walk.next()) {
      const item = this.read(home, walk.valueStart, bytes.length)
      if (item === undefined) return undefined
      walk.valueEnd = this.end
      items.push(item)
    }
    list.valueEnd = walk.end
    return walk.end < 0 ? undefined : items
  }

  #key(bytes: Buffer, { nameStart, nameEnd, namespaceStart, namespaceEnd }: Head): string | undefined {
    const length = nameEnd - nameStart + namespaceEnd - namespaceStart
    // Names of objects have at most 253 characters.
    if (nameEnd - nameStart < 3 || length > this.#scratch.length) return undefined
    const scratch = this.#scratch
    let at = 0
    for (let i = namespaceStart + 1; i < namespaceEnd - 1; i++) scratch[at++] = bytes[i]!
    if (at > 0) scratch[at++] = slash
    for (let i = nameStart + 1; i < nameEnd - 1; i++) scratch[at++] = bytes[i]!
    for (let i = 0; i < at; i++) if (scratch[i] === backslash) return undefined
    return scratch.toString('utf8', 0, at)
  }

  #typeOf(bytes: Buffer, head: Head): EncodedType<T> {
    const parts = this.#parts
    // List items do not declare their type; they have the requested one.
    if (parts.isFixed || head.kindEnd === 0) return parts
    const usual =
      isWord(bytes, head.kindStart, head.kindEnd, this.#kind) &&
      isWord(bytes, head.apiVersionStart, head.apiVersionEnd, this.#apiVersion)
    if (usual) return parts
    const kind = stringAt(bytes, head.kindStart, head.kindEnd) ?? ''
    const apiVersion = stringAt(bytes, head.apiVersionStart, head.apiVersionEnd) ?? ''
    return { ...parts, kind, apiVersion }
  }
}

interface ListFacts {
  readonly resourceVersion?: string | undefined
  readonly continue?: string | undefined
  readonly remainingItemCount?: number | undefined
}

/** Combines items and list metadata to a page. */
export function pageOf<T>(items: readonly EncodedObject<T>[], meta: ListFacts): EncodedPage<T> {
  const { resourceVersion = '', continue: next = '', remainingItemCount } = meta
  return {
    items,
    resourceVersion,
    ...(next === '' ? {} : { continue: next }),
    ...(remainingItemCount === undefined ? {} : { remaining: remainingItemCount }),
  }
}

/** The positions of the values that identify an object, including their quotes, and those of its parts. */
class Head implements EncodedParts {
  apiVersionStart = 0
  apiVersionEnd = 0
  kindStart = 0
  kindEnd = 0
  nameStart = 0
  nameEnd = 0
  namespaceStart = 0
  namespaceEnd = 0
  versionStart = 0
  versionEnd = 0
  fieldsStart = 0
  fieldsEnd = 0
  metadataEnd = 0
  specEnd = 0
  #statusEnd = 0
  #isUsual = true

  metadata({ start, valueStart }: Walk, end: number): void {
    if (this.metadataEnd > 0 || valueStart !== start + 11) this.#isUsual = false
    this.metadataEnd = end
    this.specEnd = end
    this.#statusEnd = end
  }

  /** Records any other member. Only spec and status are usual, in this order, and without white space. */
  member(walk: Walk, end: number): void {
    const { start, valueStart } = walk
    const isNext = this.metadataEnd > 0 && start === this.#statusEnd + 1
    if (isNext && this.#statusEnd === this.metadataEnd && walk.isKey(specWord) && valueStart === start + 7) {
      this.specEnd = end
      this.#statusEnd = end
    } else if (isNext && this.#statusEnd === this.specEnd && walk.isKey(statusWord) && valueStart === start + 9) {
      this.#statusEnd = end
    } else this.#isUsual = false
  }

  /** Clears the parts of an object with an unusual layout. */
  finish(end: number, type: EncodedType<unknown>): void {
    const isTyped = this.kindEnd > 0 === this.apiVersionEnd > 0 && type.kind !== '' && type.apiVersion !== ''
    if (this.#isUsual && isTyped && end === this.#statusEnd + 1) return
    this.metadataEnd = 0
  }
}

/** Records the positions of name, namespace, version and managed fields, and returns the end of the metadata. */
function readMetadata(bytes: Buffer, start: number, limit: number, head: Head): number {
  const walk = new Walk(bytes, start, limit)
  let before = 0
  while (walk.next()) {
    const end = walk.skip()
    if (end < 0) return -1
    const previous = before
    before = end
    if (bytes[walk.valueStart] !== quote) {
      // Only directly after a comma, and only once: the object is then decoded without them.
      if (previous > 0 && bytes[previous] === comma && walk.isKey(managedFieldsWord)) {
        head.fieldsStart = head.fieldsEnd === 0 ? previous : 0
        head.fieldsEnd = end
      }
      continue
    }
    if (walk.isKey(nameWord)) {
      head.nameStart = walk.valueStart
      head.nameEnd = end
    } else if (walk.isKey(namespaceWord)) {
      head.namespaceStart = walk.valueStart
      head.namespaceEnd = end
    } else if (walk.isKey(resourceVersionWord)) {
      head.versionStart = walk.valueStart
      head.versionEnd = end
    }
  }
  return walk.end
}
