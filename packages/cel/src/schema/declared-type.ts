import { utf8Length } from '@kubewright/base'
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listType,
  mapType,
  STRING,
  structType,
  TIMESTAMP,
} from '../values/cel-type.ts'
import type { CelValue } from '../values/values.ts'
import { type CelSchema, withTypeAndObjectMeta } from './cel-schema.ts'
import { escapeIdentifier } from './escape.ts'
import { type ReadContext, readerOf } from './schema-values.ts'

/** The maximum request size of the API server. It bounds the sizes that a schema leaves open. */
export const MAX_REQUEST_SIZE_BYTES: number = 3 * 1024 * 1024

const MAX_DURATION_SIZE = 32
const MAX_DATETIME_SIZE = 32
const DATE_SIZE = 12

/** A field of a declared object. */
export interface DeclaredField {
  /** The name in JSON. Expressions use the escaped name. */
  readonly jsonName: string
  readonly type: DeclaredType
  /** Set if this entry is the unescaped name of a field that is a keyword. Cost estimates ignore such entries. */
  readonly isKeyword?: true | undefined
}

/**
 * The declaration of a value that has a schema: its type, its fields or elements, size bounds for cost estimates, and
 * how to read it from JSON. Created by {@link declareSchema}.
 */
export interface DeclaredType {
  readonly type: CelType
  readonly schema: CelSchema
  /** The fields of an object, by escaped name. */
  readonly fields?: ReadonlyMap<string, DeclaredField> | undefined
  /** The elements of a list, or the values of a map. */
  readonly element?: DeclaredType | undefined
  /** The keys of a map. */
  readonly key?: DeclaredType | undefined
  /** The maximum size: characters, bytes, elements or entries; 0 for values without a size. */
  readonly maxElements: number
  /** The minimum number of bytes of a value in JSON. */
  readonly minSerializedSize: number
  /**
   * Converts a JSON value to a CEL value. Lists and maps become views of the JSON. Throws a CelError for data that does
   * not match the schema.
   */
  read(json: unknown): CelValue
}

/** Options of `declareSchema`. */
export interface DeclareOptions {
  /** The type name in error messages. @default 'selfType' */
  readonly name?: string | undefined
  /**
   * Whether the schema describes a complete resource, which always has `apiVersion`, `kind` and `metadata`. @default
   * false
   */
  readonly isResourceRoot?: boolean | undefined
}

/** Declares a schema. Returns `undefined` if the schema is too unspecific for expressions to use the value. */
export function declareSchema(schema: CelSchema, options: DeclareOptions = {}): DeclaredType | undefined {
  return declare(schema, options.name ?? 'selfType', options.isResourceRoot ?? false, [])
}

/** The declaration of map keys: strings of unknown size. */
const KEY: DeclaredType = scalar(STRING, { type: 'string' }, 0, 2)

function scalar(type: CelType, schema: CelSchema, maxElements: number, minSerializedSize: number): DeclaredType {
  return finish({ type, schema, maxElements, minSerializedSize })
}

function finish(parts: ReadContext & Omit<DeclaredType, 'read'>): DeclaredType {
  return { ...parts, read: readerOf(parts) }
}

function declare(
  schema: CelSchema,
  name: string,
  isRoot: boolean,
  outer: readonly CelSchema[],
): DeclaredType | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) {
    const max = schema.maxLength === undefined ? MAX_REQUEST_SIZE_BYTES - 2 : bound(schema.maxLength) * 4
    return scalar(DYN, schema, max, 1)
  }
  // Built-in schemas may be recursive, but CEL has no recursive types.
  if (outer.includes(schema)) return undefined
  const inside = [...outer, schema]
  switch (schema.type) {
    case 'array':
      return declareList(schema, name, inside)
    case 'object':
      return declareObject(isRoot ? withTypeAndObjectMeta(schema) : schema, name, inside)
    case 'string':
      return declareString(schema)
    case 'boolean':
      return scalar(BOOL, schema, 0, 4)
    case 'number':
      return scalar(DOUBLE, schema, 0, 1)
    case 'integer':
      return scalar(INT, schema, 0, 1)
    default:
      return undefined
  }
}

function bound(n: number): number {
  return Math.max(0, n)
}

function declareNested(schema: CelSchema, name: string, outer: readonly CelSchema[]): DeclaredType | undefined {
  return declare(schema, name, schema['x-kubernetes-embedded-resource'] === true, outer)
}

function declareList(schema: CelSchema, name: string, outer: readonly CelSchema[]): DeclaredType | undefined {
  if (schema.items === undefined) return undefined
  const element = declareNested(schema.items, `${name}.@idx`, outer)
  if (element === undefined) return undefined
  const maxElements =
    schema.maxItems === undefined
      ? Math.trunc((MAX_REQUEST_SIZE_BYTES - 2) / (element.minSerializedSize + 1))
      : bound(schema.maxItems)
  return finish({ type: listType(element.type), schema, element, maxElements, minSerializedSize: 2 })
}

function declareObject(schema: CelSchema, name: string, outer: readonly CelSchema[]): DeclaredType | undefined {
  if (typeof schema.additionalProperties === 'object')
    return declareMap(schema, schema.additionalProperties, name, outer)
  const fields = new Map<string, DeclaredField>()
  const required = new Set(schema.required)
  let minSerializedSize = 2
  for (const [jsonName, property] of Object.entries(schema.properties ?? {})) {
    const escaped = escapeIdentifier(jsonName)
    const type = declareNested(property, `${name}.${escaped ?? jsonName}`, outer)
    if (type === undefined) continue
    if (escaped !== undefined) fields.set(escaped, { jsonName, type })
    // After a dot, a keyword needs no escaping.
    if (escaped === `__${jsonName}__`) fields.set(jsonName, { jsonName, type, isKeyword: true })
    // The server fills in defaults, so the client need not send the field.
    if (required.has(jsonName) && property.default === undefined) {
      minSerializedSize += utf8Length(jsonName) + type.minSerializedSize + 4
    }
  }
  return finish({ type: structType(schema.typeName ?? name), schema, fields, maxElements: 0, minSerializedSize })
}

function declareMap(
  schema: CelSchema,
  values: CelSchema,
  name: string,
  outer: readonly CelSchema[],
): DeclaredType | undefined {
  const element = declareNested(values, `${name}.@elem`, outer)
  if (element === undefined) return undefined
  const maxElements =
    schema.maxProperties === undefined
      ? Math.trunc((MAX_REQUEST_SIZE_BYTES - 2) / (element.minSerializedSize + 6))
      : bound(schema.maxProperties)
  return finish({ type: mapType(STRING, element.type), schema, element, key: KEY, maxElements, minSerializedSize: 2 })
}

function declareString(schema: CelSchema): DeclaredType {
  switch (schema.format) {
    case 'byte':
      return scalar(
        BYTES,
        schema,
        schema.maxLength === undefined ? MAX_REQUEST_SIZE_BYTES - 2 : bound(schema.maxLength),
        2,
      )
    case 'duration':
      return scalar(DURATION, schema, MAX_DURATION_SIZE, 3)
    case 'date':
      return scalar(TIMESTAMP, schema, DATE_SIZE, DATE_SIZE)
    case 'date-time':
      return scalar(TIMESTAMP, schema, MAX_DATETIME_SIZE, 21)
  }
  // maxLength counts code points. Sizes are in bytes, and a code point takes up to four.
  if (schema.maxLength !== undefined) return scalar(STRING, schema, bound(schema.maxLength) * 4, 2)
  if (schema.enum !== undefined && schema.enum.length > 0) {
    const longest = schema.enum.reduce((n: number, v) => Math.max(n, typeof v === 'string' ? utf8Length(v) : 0), 0)
    return scalar(STRING, schema, longest, 2)
  }
  return scalar(STRING, schema, MAX_REQUEST_SIZE_BYTES - 2, 2)
}
