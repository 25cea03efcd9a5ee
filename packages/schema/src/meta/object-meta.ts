import { errorText, formatRFC3339, isJsonObject, parseRFC3339 } from '@kubewright/base'
import { goJson, isGoInteger } from '../field/go-format.ts'
import type { JsonObject } from '../model/structural-node.ts'

/** How a field of a Go struct is decoded and encoded. */
interface FieldRule {
  readonly kind: 'string' | 'int64' | 'bool' | 'time' | 'raw' | 'stringMap' | 'stringList' | 'structList'
  /** The Go type, as named in decoding errors. */
  readonly goType: string
  /** Whether the encoder writes the field even if it is unset. */
  readonly always?: true | undefined
  /** Whether an explicit zero value is kept (Go pointers). */
  readonly pointer?: true | undefined
  readonly struct?: StructRule | undefined
}

interface StructRule {
  readonly name: string
  readonly fields: Readonly<Record<string, FieldRule>>
}

const string: FieldRule = { kind: 'string', goType: 'string' }
const time: FieldRule = { kind: 'time', goType: 'string' }
const labels: FieldRule = { kind: 'stringMap', goType: 'map[string]string' }
const boolPointer: FieldRule = { kind: 'bool', goType: 'bool', pointer: true }
const requiredString: FieldRule = { kind: 'string', goType: 'string', always: true }

const OWNER_REFERENCE: StructRule = {
  name: 'OwnerReference',
  fields: {
    apiVersion: requiredString,
    kind: requiredString,
    name: requiredString,
    uid: { kind: 'string', goType: 'types.UID', always: true },
    controller: boolPointer,
    blockOwnerDeletion: boolPointer,
  },
}

const MANAGED_FIELDS_ENTRY: StructRule = {
  name: 'ManagedFieldsEntry',
  fields: {
    manager: string,
    operation: { kind: 'string', goType: 'v1.ManagedFieldsOperationType' },
    apiVersion: string,
    time,
    fieldsType: string,
    fieldsV1: { kind: 'raw', goType: 'v1.FieldsV1' },
    subresource: string,
  },
}

const OBJECT_META: StructRule = {
  name: 'ObjectMeta',
  fields: {
    name: string,
    generateName: string,
    namespace: string,
    selfLink: string,
    uid: { kind: 'string', goType: 'types.UID' },
    resourceVersion: string,
    generation: { kind: 'int64', goType: 'int64' },
    creationTimestamp: time,
    deletionTimestamp: time,
    deletionGracePeriodSeconds: { kind: 'int64', goType: 'int64', pointer: true },
    labels,
    annotations: labels,
    ownerReferences: { kind: 'structList', goType: '[]v1.OwnerReference', struct: OWNER_REFERENCE },
    finalizers: { kind: 'stringList', goType: '[]string' },
    managedFields: { kind: 'structList', goType: '[]v1.ManagedFieldsEntry', struct: MANAGED_FIELDS_ENTRY },
  },
}

/** Object metadata, decoded like the API server's ObjectMeta struct. */
export interface DecodedMeta {
  /** The fields in the form that the server writes: without unknown and empty fields, times in UTC. */
  readonly meta: Record<string, unknown>
  /** The paths, relative to the metadata, of fields that ObjectMeta does not have. */
  readonly unknown: readonly string[]
  /** The first decoding error, in the order of sorted keys. */
  readonly error: string | undefined
}

/**
 * Decodes object metadata like kube-apiserver, with its error texts. With `dropMalformed`, fields of the wrong type are
 * omitted instead of causing an error.
 */
export function decodeObjectMeta(value: unknown, dropMalformed = false): DecodedMeta {
  if (!isJsonObject(value)) {
    if (value === null) return { meta: {}, unknown: [], error: undefined }
    const error = dropMalformed
      ? `invalid metadata: expected object, got ${goTypeName(value)}`
      : `json: cannot unmarshal ${describe(value)} into Go value of type v1.ObjectMeta`
    return { meta: {}, unknown: [], error }
  }
  const decoder = new Decoder()
  let meta = decoder.struct(OBJECT_META, value, '')
  if (decoder.error === undefined || !dropMalformed) return { meta, unknown: decoder.unknown, error: decoder.error }
  const accepted = Object.entries(value).filter(([key, field]) => {
    const single = new Decoder()
    single.struct(OBJECT_META, { [key]: field }, '')
    return single.error === undefined
  })
  const second = new Decoder()
  meta = second.struct(OBJECT_META, Object.fromEntries(accepted), '')
  return { meta, unknown: second.unknown, error: undefined }
}

/**
 * Decodes structs by their rules. The first error is kept and decoding continues, so that all unknown fields are found.
 */
class Decoder {
  readonly unknown: string[] = []
  error: string | undefined

  struct(rule: StructRule, value: JsonObject, prefix: string): JsonObject {
    const out: JsonObject = {}
    for (const key of Object.keys(value).sort()) {
      const field = Object.hasOwn(rule.fields, key) ? rule.fields[key] : undefined
      if (field === undefined) {
        this.unknown.push(prefix + key)
        continue
      }
      const decoded = this.#field(rule, field, value[key], prefix, key)
      if (decoded !== undefined) out[key] = decoded
    }
    for (const [key, field] of Object.entries(rule.fields)) if (field.always === true) out[key] ??= ''
    return out
  }

  /** Returns the value to write, or `undefined` to omit the field. */
  #field(rule: StructRule, field: FieldRule, value: unknown, prefix: string, key: string): unknown {
    if (value === null || value === undefined) return undefined
    // Errors contain the innermost struct and the path without indices.
    const where = `Go struct field ${rule.name}.${prefix.replaceAll(/\[[0-9]+\]/g, '')}${key}`
    switch (field.kind) {
      case 'string':
        return this.#scalar(typeof value === 'string', value, where, field.goType) && value !== '' ? value : undefined
      case 'bool':
        return this.#scalar(typeof value === 'boolean', value, where, field.goType) ? value : undefined
      case 'int64':
        return this.#scalar(isInt64(value), value, where, field.goType) && (field.pointer || value !== 0)
          ? value
          : undefined
      case 'time':
        return this.#time(value, where)
      case 'raw':
        return value
      case 'stringMap':
        return this.#stringMap(value, where, field.goType)
      case 'stringList':
        return this.#list(value, where, field.goType, (item) =>
          this.#scalar(typeof item === 'string', item, where, 'string') ? item : '',
        )
      case 'structList':
        return this.#list(value, where, field.goType, (item, i) =>
          this.#item(field, item, where, `${prefix}${key}[${i}].`),
        )
    }
  }

  #fail(text: string): void {
    this.error ??= text
  }

  #scalar(ok: boolean, value: unknown, where: string, goType: string): boolean {
    if (!ok && value !== null)
      this.#fail(`json: cannot unmarshal ${describe(value, goType)} into ${where} of type ${goType}`)
    return ok
  }

  #time(value: unknown, where: string): unknown {
    if (!this.#scalar(typeof value === 'string', value, where, 'string')) return undefined
    try {
      return formatRFC3339(parseRFC3339(value as string))
    } catch (error) {
      this.#fail(errorText(error))
      return undefined
    }
  }

  #stringMap(value: unknown, where: string, goType: string): unknown {
    if (!this.#scalar(isJsonObject(value), value, where, goType)) return undefined
    const map = value as JsonObject
    const keys = Object.keys(map).sort()
    if (keys.length === 0) return undefined
    // Built from entries, because an assignment to the key `__proto__` would set the prototype.
    return Object.fromEntries(
      keys.map((key) => [key, this.#scalar(typeof map[key] === 'string', map[key], where, 'string') ? map[key] : '']),
    )
  }

  #list(value: unknown, where: string, goType: string, decode: (item: unknown, index: number) => unknown): unknown {
    if (!this.#scalar(Array.isArray(value), value, where, goType)) return undefined
    const list = (value as unknown[]).map(decode)
    return list.length === 0 ? undefined : list
  }

  #item(field: FieldRule, item: unknown, where: string, prefix: string): unknown {
    const struct = field.struct as StructRule
    if (!this.#scalar(isJsonObject(item), item, where, field.goType.slice('[]'.length)))
      return this.struct(struct, {}, prefix)
    return this.struct(struct, item as JsonObject, prefix)
  }
}

function isInt64(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'number' && isGoInteger(value))
}

/** Describes a JSON value like Go's decoding errors. A number that does not fit into an int64 is included. */
function describe(value: unknown, goType = ''): string {
  if (Array.isArray(value)) return 'array'
  switch (typeof value) {
    case 'boolean':
      return 'bool'
    case 'number':
      return goType === 'int64' ? `number ${goJson(value)}` : 'number'
    case 'bigint':
      return 'number'
    default:
      return typeof value
  }
}

function goTypeName(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'number') return isGoInteger(value) ? 'int64' : 'float64'
  return typeof value === 'bigint' ? 'int64' : 'string'
}
