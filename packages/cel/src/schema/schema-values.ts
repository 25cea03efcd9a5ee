import { deepEqual, errorText, isCalendarDate, isJsonObject, parseRFC3339 } from '@kubewright/base'
import { CelError, noSuchOverload } from '../values/cel-error.ts'
import { CelList, CelMap } from '../values/collections.ts'
import { celEquals } from '../values/equality.ts'
import { toNative } from '../values/native.ts'
import { CelBytes, CelDouble, CelDuration, CelTimestamp, type CelValue, intOf } from '../values/values.ts'
import type { CelSchema } from './cel-schema.ts'
import type { DeclaredField, DeclaredType } from './declared-type.ts'
import { escapeIdentifier } from './escape.ts'
import { parseOpenAPIDuration } from './openapi-duration.ts'

/** The declarations that a reader needs. */
export interface ReadContext {
  readonly schema: CelSchema
  readonly fields?: ReadonlyMap<string, DeclaredField> | undefined
  readonly element?: DeclaredType | undefined
}

type JsonObject = Readonly<Record<string, unknown>>

/**
 * Returns the function that converts JSON with this schema to CEL values, as in
 * apiserver/pkg/cel/common/valuesunstructured.go.
 */
export function readerOf(context: ReadContext): (json: unknown) => CelValue {
  const { schema } = context
  const read = valueReader(context)
  const whenNull = schema.nullable === true ? null : undefined
  return (json) => {
    if (json === null || json === undefined) {
      if (whenNull === null) return null
      throw new CelError('invalid data, got null for schema with nullable=false')
    }
    return read(json)
  }
}

function valueReader(context: ReadContext): (json: unknown) => CelValue {
  const { schema } = context
  if (schema['x-kubernetes-int-or-string'] === true) return readIntOrString
  switch (schema.type) {
    case 'object':
      return objectReader(context)
    case 'array':
      return listReader(context)
    case 'string':
      return (Object.hasOwn(STRING_READERS, schema.format ?? '') && STRING_READERS[schema.format!]) || readString
    case 'number':
      return readNumber
    case 'integer':
      return readInteger
    default:
      return readBoolean
  }
}

function readIntOrString(json: unknown): CelValue {
  if (typeof json === 'string' || Number.isInteger(json) || typeof json === 'bigint') return json as CelValue
  throw new CelError('invalid data, expected XIntOrString value to be either a string or integer')
}

/** Returns the name of the Go type of a decoded JSON value. */
function goTypeOf(json: unknown): string {
  switch (typeof json) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'number':
    case 'bigint':
      return Number.isInteger(json) || typeof json === 'bigint' ? 'int64' : 'float64'
    default:
      return Array.isArray(json) ? '[]interface {}' : 'map[string]interface {}'
  }
}

function readString(json: unknown): string {
  if (typeof json === 'string') return json
  throw new CelError(`invalid data, expected string, got ${goTypeOf(json)}`)
}

function readNumber(json: unknown): CelValue {
  if (typeof json === 'number') return new CelDouble(json)
  if (typeof json === 'bigint') return new CelDouble(Number(json))
  throw new CelError(`invalid data, expected float, got ${goTypeOf(json)}`)
}

function readInteger(json: unknown): CelValue {
  if (Number.isSafeInteger(json)) return json as number
  if (typeof json === 'bigint') return intOf(json)
  if (Number.isInteger(json)) return BigInt(json as number)
  throw new CelError(`invalid data, expected int, got ${goTypeOf(json)}`)
}

function readBoolean(json: unknown): CelValue {
  if (typeof json === 'boolean') return json
  throw new CelError(`invalid data, expected bool, got ${goTypeOf(json)}`)
}

const STRING_READERS: Readonly<Record<string, (json: unknown) => CelValue>> = {
  byte: (json) => new CelBytes(decodeBase64(readString(json))),
  duration: (json) => new CelDuration(parseOpenAPIDuration(readString(json))),
  date: (json) => {
    const text = readString(json)
    if (!isCalendarDate(text)) {
      throw new CelError(
        `Invalid date formatted string ${text}: parsing time "${text}" as "2006-01-02": cannot parse "${text}" as "2006"`,
      )
    }
    return new CelTimestamp(Date.parse(`${text}T00:00:00Z`) / 1000, 0)
  },
  'date-time': (json) => {
    const text = readString(json)
    try {
      const time = parseRFC3339(text)
      return new CelTimestamp(time.seconds, time.nanos, time.offset)
    } catch (e) {
      throw new CelError(`Invalid date-time formatted string ${text}: ${errorText(e)}`)
    }
  },
}

// As in Kubernetes, decodes the URL-safe alphabet, although validation of the format accepts the standard one.
function decodeBase64(text: string): Uint8Array {
  if (!/^(?:[\w-]{4})*(?:[\w-]{2}==|[\w-]{3}=)?$/.test(text)) {
    const foreign = text.search(/[^\w-]/)
    const at = foreign < 0 ? text.length - (text.length % 4) : foreign
    throw new CelError(`Invalid byte formatted string ${text}: illegal base64 data at input byte ${at}`)
  }
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0))
}

function objectReader(context: ReadContext): (json: unknown) => CelValue {
  const { fields, element } = context
  return (json) => {
    if (!isJsonObject(json)) throw new CelError('invalid data, expected a map for the provided schema with type=object')
    return element === undefined ? new SchemaObject(json, fields!, context.schema) : new SchemaMap(json, element)
  }
}

/** An object with declared properties, as a CEL map with escaped names as keys. */
export class SchemaObject extends CelMap {
  readonly json: JsonObject
  readonly #fields: ReadonlyMap<string, DeclaredField>
  readonly #schema: CelSchema

  constructor(json: JsonObject, fields: ReadonlyMap<string, DeclaredField>, schema: CelSchema) {
    super()
    this.json = json
    this.#fields = fields
    this.#schema = schema
  }

  get size(): number {
    return Object.keys(this.json).length
  }

  /** Data with a schema is never absent, even if empty. */
  override get isZero(): boolean {
    return false
  }

  /** A property with the value null counts as absent. */
  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') throw noSuchOverload()
    const field = this.#fields.get(key)
    // A property without a schema, or with one that CEL has no type for, is used in comparisons only.
    if (field === undefined) return undefined
    const value = Object.hasOwn(this.json, field.jsonName) ? this.json[field.jsonName] : undefined
    return value === undefined || value === null ? undefined : field.type.read(value)
  }

  *keys(): Iterable<CelValue> {
    for (const name of Object.keys(this.json)) {
      if (this.#schema.properties?.[name] !== undefined) yield escapeIdentifier(name) ?? name
    }
  }

  override equals(other: CelValue): boolean {
    if (!(other instanceof CelMap)) throw noSuchOverload()
    if (this.size !== other.size) return false
    for (const [name, value] of Object.entries(this.json)) {
      const escaped = escapeIdentifier(name) ?? name
      if (this.#fields.has(escaped)) {
        const mine = this.get(escaped)
        const theirs = other.get(escaped)
        if ((mine === undefined) !== (theirs === undefined)) return false
        if (mine !== undefined && !celEquals(mine, theirs!)) return false
      } else if (other instanceof SchemaObject) {
        // Data without a schema is compared as JSON, and only if both objects have it.
        if (Object.hasOwn(other.json, name) && !deepEqual(value, other.json[name])) return false
      } else {
        throw noSuchOverload()
      }
    }
    return true
  }
}

/** An object with additional properties of one type, as a CEL map. */
export class SchemaMap extends CelMap {
  readonly json: JsonObject
  readonly #element: DeclaredType

  constructor(json: JsonObject, element: DeclaredType) {
    super()
    this.json = json
    this.#element = element
  }

  get size(): number {
    return Object.keys(this.json).length
  }

  override get isZero(): boolean {
    return false
  }

  get(key: CelValue): CelValue | undefined {
    if (typeof key !== 'string') throw noSuchOverload()
    return Object.hasOwn(this.json, key) ? this.#element.read(this.json[key]) : undefined
  }

  keys(): Iterable<CelValue> {
    return Object.keys(this.json)
  }

  override equals(other: CelValue): boolean {
    if (!(other instanceof CelMap)) throw noSuchOverload()
    return super.equals(other)
  }
}

function listReader(context: ReadContext): (json: unknown) => CelValue {
  const element = context.element!
  const listType = context.schema['x-kubernetes-list-type'] ?? 'atomic'
  const keys = context.schema['x-kubernetes-list-map-keys'] ?? []
  return (json) => {
    if (!Array.isArray(json))
      throw new CelError('invalid data, expected an array for the provided schema with type=array')
    switch (listType) {
      case 'atomic':
        return new SchemaList(json, element)
      case 'set':
        return new SchemaSetList(json, element)
      case 'map':
        return new SchemaMapList(json, element, keys)
      default:
        throw new CelError(`invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got ${listType}`)
    }
  }
}

/** An array of declared elements, as a CEL list. */
export class SchemaList extends CelList {
  readonly json: readonly unknown[]
  protected readonly element: DeclaredType

  constructor(json: readonly unknown[], element: DeclaredType) {
    super()
    this.json = json
    this.element = element
  }

  get size(): number {
    return this.json.length
  }

  at(index: number): CelValue {
    return this.element.read(this.json[index])
  }

  override get isZero(): boolean {
    return false
  }

  override equalsOther(_other: CelValue): boolean {
    throw noSuchOverload()
  }

  override concat(other: CelList): CelList {
    return new SchemaList([...this.json, ...jsonElements(other)], this.element)
  }
}

function jsonElements(list: CelList): readonly unknown[] {
  return list instanceof SchemaList ? list.json : list.toArray().map(toNative)
}

/** A list with list type `set`: equality ignores the order, `+` is the union. */
class SchemaSetList extends SchemaList {
  #members: Set<unknown> | undefined

  #set(): Set<unknown> {
    return (this.#members ??= new Set(this.json))
  }

  override equalsList(other: CelList): boolean {
    return this.size === other.size && jsonElements(other).every((e) => this.#set().has(e))
  }

  override concat(other: CelList): CelList {
    return new SchemaSetList([...new Set([...this.json, ...jsonElements(other)])], this.element)
  }
}

/** A list with list type `map`: equality ignores the order, `+` merges elements with equal keys. */
class SchemaMapList extends SchemaList {
  readonly #keys: readonly string[]

  constructor(json: readonly unknown[], element: DeclaredType, keys: readonly string[]) {
    super(json, element)
    this.#keys = keys
  }

  #keyOf(element: unknown): string {
    if (!isJsonObject(element)) return ''
    return JSON.stringify(this.#keys.map((k) => element[k] ?? null))
  }

  override equalsList(other: CelList): boolean {
    if (this.size !== other.size) return false
    const mine = new Map(this.json.map((e) => [this.#keyOf(e), e]))
    for (const theirs of other) {
      const match = mine.get(this.#keyOf(toNative(theirs)))
      if (match === undefined || !celEquals(this.element.read(match), theirs)) return false
    }
    return true
  }

  override concat(other: CelList): CelList {
    const merged = [...this.json]
    const places = new Map(this.json.map((e, i) => [this.#keyOf(e), i]))
    for (const e of jsonElements(other)) {
      const place = places.get(this.#keyOf(e))
      if (place === undefined) merged.push(e)
      else merged[place] = e
    }
    return new SchemaMapList(merged, this.element, this.#keys)
  }
}
