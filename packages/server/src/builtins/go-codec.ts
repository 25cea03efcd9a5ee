import {
  formatDuration,
  formatMicroTime,
  formatRFC3339,
  parseDuration,
  parseMicroTime,
  parseQuantity,
  parseRFC3339,
} from '@kubewright/base'
import { type GoField, goDeclaration, printGoType } from './go-declarations.ts'

/** A value does not fit its Go type, in the words of Go's decoder. */
export class GoDecodeError extends Error {}

/** Where a decoder is and what it noticed; one for each value decoded. */
export class DecodeState {
  /** The first mismatch of types, which does not stop the decoder. */
  mismatch: string | undefined
  /** A struct had a field that its type does not know. */
  unknown = false
  /** Members of objects seen, to compare with those in the text. */
  members = 0
  /** Keep empty lists and maps apart from absent ones where both are shown, as JSON does and stored objects do not. */
  readonly keepEmpty: boolean
  /** Write null for lists, maps and times that are never left out and not set, as clients see them. */
  readonly nulls: boolean
  /** Go through fields in the order of the document, so that the first mismatch is the one that Go finds first. */
  readonly inOrder: boolean
  /** Name of the innermost struct, and the fields that lead into it. */
  struct = ''
  readonly labels: string[] = []
  depth = 0

  /** Whether errors speak of JSON, or of values that are converted, where the first one ends it. */
  readonly words: 'json' | 'map'

  constructor(
    options: {
      readonly inOrder?: boolean
      readonly keepEmpty?: boolean
      readonly nulls?: boolean
      readonly words?: 'json' | 'map'
    } = {},
  ) {
    this.nulls = options.nulls ?? false
    this.words = options.words ?? 'json'
    this.inOrder = options.inOrder ?? false
    this.keepEmpty = options.keepEmpty ?? false
  }

  /** Remembers that a value was found where the type wants another; `kind` is what the type is made of. */
  mismatched(value: unknown, type: string, kind: GoKind): undefined {
    if (this.words === 'map') throw new GoDecodeError(conversionProblem(value, type, kind))
    const wantsNumber = kind.startsWith('int') || kind.startsWith('uint')
    const found = wantsNumber && isNumber(value) ? `number ${value}` : goJsonKind(value)
    this.mismatch ??= this.describe(found, type)
    return undefined
  }

  describe(found: string, type: string): string {
    const field = this.labels.slice(0, this.depth).join('.')
    // Values that are converted one by one do not know where they are.
    const place = this.depth === 0 || this.words === 'map' ? 'value' : `struct field ${this.struct}.${field}`
    return `json: cannot unmarshal ${found} into Go ${place} of type ${type}`
  }
}

/** What a Go type is made of. */
type GoKind = 'string' | 'bool' | 'int32' | 'int64' | 'int' | 'uint64' | 'float64' | 'slice' | 'map' | 'struct'

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** What apimachinery's converter says about a value that does not fit (runtime/converter.go). */
function conversionProblem(value: unknown, type: string, kind: GoKind): string {
  const from =
    typeof value === 'string'
      ? 'string'
      : typeof value === 'boolean'
        ? 'bool'
        : isNumber(value)
          ? Number.isInteger(Number(value))
            ? 'int64'
            : 'float64'
          : Array.isArray(value)
            ? 'slice'
            : 'map'
  if (kind === 'slice' || kind === 'map') return `cannot restore ${kind} from ${from}`
  if (kind === 'struct') return `cannot restore struct from: ${from}`
  // Go can convert between numbers, and from whole numbers to text, but JSON does not.
  const convertible = isNumber(value) && kind !== 'bool' && (kind !== 'string' || from === 'int64')
  return convertible ? `cannot convert ${from} to ${type}` : `unrecognized type: ${kind}`
}

/** Reads and writes the JSON of one Go type at once: takes any JSON value and gives the one that Go would print after decoding it. */
export interface GoCodec {
  /** The value in its canonical form; undefined for Go's zero value of a type that omitempty drops. */
  decode(value: unknown, state: DecodeState): unknown
  /** What the zero value looks like where it is not left out; structs leave out the nulls within them unless asked for. */
  zero(nulls: boolean): unknown
  /** Whether omitempty drops the zero value: true for everything but structs. */
  readonly omittable: boolean
}

const codecs = new Map<string, GoCodec>()

/** The codec of a Go type such as `core/v1.Pod` or `map[string]string`; made once. */
export function goCodec(type: string): GoCodec {
  let codec = codecs.get(type)
  if (!codec) codecs.set(type, (codec = makeCodec(type, type)))
  return codec
}

/** Decodes a value of a Go type; throws {@link GoDecodeError} with what Go would say about it. */
export function decodeGo(type: string, value: unknown): unknown {
  const codec = goCodec(type)
  const state = new DecodeState({ keepEmpty: true })
  return decodeOnce(codec, value, state)
}

/** Decodes a value, and when something is wrong with it goes through it again the way Go does, to name what Go would. */
export function decodeOnce(codec: GoCodec, value: unknown, state: DecodeState): unknown {
  try {
    const decoded = codec.decode(value, state)
    if (state.mismatch === undefined) return decoded
  } catch (error) {
    if (!(error instanceof GoDecodeError) || state.words === 'map') throw error
  }
  const ordered = new DecodeState({ inOrder: true })
  codec.decode(value, ordered)
  throw new GoDecodeError(ordered.mismatch ?? state.mismatch ?? 'the value does not fit its type')
}

/** What Go says when kind and apiVersion are looked for in something that is no object. */
export function typeMetaMismatch(value: unknown): string {
  const type = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  return `json: cannot unmarshal ${goJsonKind(value)} into Go value of type ${type}`
}

/** `shown` is the type as declared, which named types keep in error texts. */
function makeCodec(type: string, shown: string): GoCodec {
  const known = special[type]
  if (known) return known
  if (type.startsWith('*')) return pointer(goCodec(type.slice(1)))
  if (type === '[]byte') return bytes(printGoType(shown))
  if (type.startsWith('[]')) return slice(goCodec(type.slice(2)), printGoType(shown))
  if (type.startsWith('map[')) return map(goCodec(type.slice(type.indexOf(']') + 1)), printGoType(shown))
  const integer = integers[type]
  if (integer) return integerCodec(type as GoKind, integer[0], integer[1], printGoType(shown))
  if (type === 'string') return stringCodec(printGoType(shown))
  if (type === 'bool') return boolCodec(printGoType(shown))
  if (type === 'float64') return floatCodec(printGoType(shown))
  const declaration = goDeclaration(type)
  if (declaration === undefined) throw new Error(`No Go type ${type} is known`)
  return typeof declaration === 'string' ? makeCodec(declaration, shown) : new StructCodec(type, declaration)
}

const integers: Readonly<Record<string, readonly [number, number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 63), 2 ** 63],
  int: [-(2 ** 63), 2 ** 63],
  uint64: [0, 2 ** 64],
}

/** What Go's decoder calls a JSON value. */
export function goJsonKind(value: unknown): string {
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'number'
  return Array.isArray(value) ? 'array' : typeof value
}

function stringCodec(type: string): GoCodec {
  return {
    omittable: true,
    zero: () => '',
    decode: (value, state) => {
      if (typeof value === 'string') return value === '' ? undefined : value
      return value === null ? undefined : state.mismatched(value, type, 'string')
    },
  }
}

function boolCodec(type: string): GoCodec {
  return {
    omittable: true,
    zero: () => false,
    decode: (value, state) => {
      if (typeof value === 'boolean') return value || undefined
      return value === null ? undefined : state.mismatched(value, type, 'bool')
    },
  }
}

function integerCodec(kind: GoKind, min: number, max: number, type: string): GoCodec {
  return {
    omittable: true,
    zero: () => 0,
    decode: (value, state) => {
      if (typeof value === 'number') {
        if (Number.isInteger(value) && value >= min && value <= max) return value === 0 ? undefined : value
        return state.mismatched(value, type, kind)
      }
      if (typeof value === 'bigint') {
        return value >= BigInt(min) && value < BigInt(max) ? value : state.mismatched(value, type, kind)
      }
      return value === null ? undefined : state.mismatched(value, type, kind)
    },
  }
}

function floatCodec(type: string): GoCodec {
  return {
    omittable: true,
    zero: () => 0,
    decode: (value, state) => {
      if (typeof value === 'number') return value === 0 ? undefined : value
      if (typeof value === 'bigint') return Number(value)
      return value === null ? undefined : state.mismatched(value, type, 'float64')
    },
  }
}

function bytes(type: string): GoCodec {
  return {
    omittable: true,
    // An empty value and none are the same where it is stored, and read back as empty.
    zero: () => '',
    decode: (value, state) => {
      if (value === null) return undefined
      if (typeof value !== 'string') return state.mismatched(value, type, 'slice')
      const text = /[\r\n]/.test(value) ? value.replace(/[\r\n]/g, '') : value
      const wrong = badBase64(text)
      if (wrong >= 0) {
        const problem = `illegal base64 data at input byte ${wrong}`
        if (state.words === 'map') throw new GoDecodeError(`error decoding from json: ${problem}`)
        state.mismatch ??= problem
        return undefined
      }
      return text === '' ? undefined : text
    },
  }
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** The position that Go's standard decoder complains about, or -1. */
function badBase64(text: string): number {
  if (base64.test(text)) return -1
  const at = text.search(/[^A-Za-z0-9+/]/)
  if (at < 0) return text.length - (text.length % 4 === 0 ? 4 : text.length % 4)
  if (text[at] !== '=' || at % 4 < 2) return at
  // Padding: what follows it must be its second half and then nothing.
  if (at % 4 === 2) return text[at + 1] === '=' ? at + 2 : Math.min(at + 1, text.length)
  return at + 1
}

function pointer(target: GoCodec): GoCodec {
  return {
    omittable: true,
    zero: () => null,
    decode: (value, state) => {
      if (value === null) return undefined
      const decoded = target.decode(value, state)
      // What is pointed to is there, even if it is empty.
      return decoded === undefined ? target.zero(state.nulls) : decoded
    },
  }
}

function slice(item: GoCodec, type: string): GoCodec {
  return {
    omittable: true,
    zero: () => null,
    decode: (value, state) => {
      if (!Array.isArray(value)) return value === null ? undefined : state.mismatched(value, type, 'slice')
      if (value.length === 0) return state.keepEmpty ? [] : undefined
      const out: unknown[] = new Array(value.length)
      for (let i = 0; i < value.length; i++) {
        const decoded = item.decode(value[i], state)
        out[i] = decoded === undefined ? item.zero(state.nulls) : decoded
      }
      return out
    },
  }
}

function map(item: GoCodec, type: string): GoCodec {
  return {
    omittable: true,
    zero: () => null,
    decode: (value, state) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        return value === null ? undefined : state.mismatched(value, type, 'map')
      }
      const source = value as Record<string, unknown>
      const out: Record<string, unknown> = {}
      const keys = Object.keys(source)
      if (keys.length === 0) return state.keepEmpty ? out : undefined
      state.members += keys.length
      // Go prints maps by key; a mismatch is found in the order of the document.
      if (!state.inOrder && keys.length > 1) keys.sort()
      for (const key of keys) {
        if (source[key] === undefined) continue
        const decoded = item.decode(source[key], state)
        setOwn(out, key, decoded === undefined ? item.zero(state.nulls) : decoded)
      }
      return out
    },
  }
}

function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  } else object[key] = value
}

/** Defaults that are declared with the type itself and hold wherever it is used; all others belong to the kinds. */
const declaredDefaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'core/v1.AzureDiskVolumeSource': { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' },
  'core/v1.ContainerPort': { protocol: 'TCP' },
  'core/v1.ISCSIPersistentVolumeSource': { iscsiInterface: 'default' },
  'core/v1.ISCSIVolumeSource': { iscsiInterface: 'default' },
  'core/v1.RBDPersistentVolumeSource': { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  'core/v1.RBDVolumeSource': { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  'core/v1.ReplicationControllerSpec': { replicas: 1 },
  'core/v1.ScaleIOPersistentVolumeSource': { storageMode: 'ThinProvisioned', fsType: 'xfs' },
  'core/v1.ScaleIOVolumeSource': { storageMode: 'ThinProvisioned', fsType: 'xfs' },
  'core/v1.ServicePort': { protocol: 'TCP' },
  'resource/v1.DeviceToleration': { operator: 'Equal' },
}

interface BoundField extends GoField {
  readonly codec: GoCodec
  /** Written even when it is not given. */
  readonly always: boolean
  /** A list or map that is left out when it is empty. */
  readonly omitsEmpty: boolean
  /** Its zero value is null, which only clients see; a time that is not set is null everywhere, and somebody owns it. */
  readonly nullable: boolean
}

class StructCodec implements GoCodec {
  readonly omittable = false
  readonly #name: string
  readonly #printed: string
  readonly #declared: readonly GoField[]
  readonly #defaults: readonly (readonly [string, unknown])[]
  #fields: readonly BoundField[] | undefined
  #byName: ReadonlyMap<string, BoundField> | undefined

  constructor(type: string, fields: readonly GoField[]) {
    this.#name = type.slice(type.lastIndexOf('.') + 1)
    this.#printed = printGoType(type)
    this.#declared = fields
    this.#defaults = Object.entries(declaredDefaults[type] ?? {})
  }

  /** Bound on first use, since types may contain themselves. */
  get #bound(): readonly BoundField[] {
    return (this.#fields ??= this.#declared.map((field) => {
      const codec = goCodec(field.type)
      const always = !field.omitZero && (!field.omitEmpty || !codec.omittable)
      const isTime = field.type === 'meta/v1.Time' || field.type === 'meta/v1.MicroTime'
      const nullable = !isTime && codec !== this && !(codec instanceof StructCodec) && codec.zero(false) === null
      return {
        ...field,
        codec,
        always,
        nullable,
        omitsEmpty: field.omitEmpty && !field.type.startsWith('*') && codec.omittable,
      }
    }))
  }

  zero(nulls: boolean): Record<string, unknown> {
    const out: Record<string, unknown> = {}
    for (const { name, codec, always, nullable } of this.#bound) {
      if (always && (nulls || !nullable)) out[name] = codec.zero(nulls)
    }
    return out
  }

  decode(value: unknown, state: DecodeState): unknown {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      // Null leaves a struct as it is.
      if (value !== null) state.mismatched(value, this.#printed, 'struct')
      return this.zero(state.nulls)
    }
    const source = value as Record<string, unknown>
    if (state.inOrder) this.#visitInOrder(source, state)
    const out: Record<string, unknown> = {}
    let found = 0
    const struct = state.struct
    const depth = state.depth++
    for (const { name, label, codec, always, omitsEmpty, nullable } of this.#bound) {
      const given = source[name]
      if (given === undefined) {
        if (always && (state.nulls || !nullable)) out[name] = codec.zero(state.nulls)
        continue
      }
      found++
      state.struct = this.#name
      state.labels[depth] = label
      const decoded = codec.decode(given, state)
      if (decoded !== undefined) {
        // A time that was set to zero is null.
        if (decoded === null ? always && (state.nulls || !nullable) : always || !(omitsEmpty && isEmpty(decoded))) out[name] = decoded
      } else if (always && (state.nulls || !nullable)) out[name] = codec.zero(state.nulls)
    }
    state.depth = depth
    state.struct = struct
    let count = 0
    for (const key in source) if (source[key] !== undefined) count++
    state.members += count
    if (count !== found) state.unknown = true
    for (const [name, fallback] of this.#defaults) out[name] ??= fallback
    return out
  }

  #visitInOrder(source: Record<string, unknown>, state: DecodeState): void {
    this.#byName ??= new Map(this.#bound.map((field) => [field.name, field]))
    const struct = state.struct
    const depth = state.depth++
    for (const key of Object.keys(source)) {
      const field = this.#byName.get(key)
      if (!field) continue
      state.struct = this.#name
      state.labels[depth] = field.label
      field.codec.decode(source[key], state)
    }
    state.depth = depth
    state.struct = struct
  }
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  for (const _ in value) return false
  return true
}

/** A type with its own decoder: what it refuses ends decoding at once. */
function own(decode: (value: unknown, state: DecodeState) => unknown, zero: unknown): GoCodec {
  return {
    omittable: false,
    zero: () => zero,
    decode: (value, state) => {
      if (value === null) return zero
      try {
        return decode(value, state)
      } catch (error) {
        throw error instanceof GoDecodeError ? error : new GoDecodeError((error as Error).message)
      }
    },
  }
}

function text(value: unknown, state: DecodeState): string {
  if (typeof value === 'string') return value
  throw new GoDecodeError(state.describe(goJsonKind(value), 'string'))
}

const zeroTime = '0001-01-01T00:00:00Z'

/** Any JSON: kept as it is. */
const raw: GoCodec = {
  omittable: false,
  zero: () => null,
  decode: (value, state) => {
    countMembers(value, state)
    return value
  },
}

function countMembers(value: unknown, state: DecodeState): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) for (const item of value) countMembers(item, state)
  else {
    for (const key in value) {
      state.members++
      countMembers((value as Record<string, unknown>)[key], state)
    }
  }
}

function schemaOr(decode: (value: unknown, state: DecodeState) => unknown): GoCodec {
  return {
    omittable: false,
    zero: () => null,
    decode: (value, state) => (value === null ? null : decode(value, state)),
  }
}

const schema = (value: unknown, state: DecodeState): unknown =>
  goCodec('apiextensions/v1.JSONSchemaProps').decode(value, state)
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

const special: Readonly<Record<string, GoCodec>> = {
  'meta/v1.Time': own((value, state) => {
    const canonical = formatRFC3339(parseRFC3339(text(value, state)))
    return canonical === zeroTime ? null : canonical
  }, null),
  'meta/v1.MicroTime': own((value, state) => {
    const canonical = formatMicroTime(parseMicroTime(text(value, state)))
    return canonical === '0001-01-01T00:00:00.000000Z' ? null : canonical
  }, null),
  'meta/v1.Duration': own((value, state) => formatDuration(parseDuration(text(value, state))), '0s'),
  'resource.Quantity': own((value) => {
    const given = typeof value === 'string' ? value : JSON.stringify(value)
    return parseQuantity(given.trim()).toString()
  }, '0'),
  'intstr.IntOrString': own((value, state) => {
    if (typeof value === 'string') return value
    if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= 2 ** 31) return value
    const found = typeof value === 'number' || typeof value === 'bigint' ? `number ${value}` : goJsonKind(value)
    throw new GoDecodeError(state.describe(found, 'int32'))
  }, 0),
  'meta/v1.FieldsV1': raw,
  'runtime.RawExtension': raw,
  'runtime.Object': raw,
  'apiextensions/v1.JSON': raw,
  'apiextensions/v1.JSONSchemaPropsOrBool': schemaOr((value, state) => {
    if (typeof value === 'boolean') return value
    if (isObject(value)) return schema(value, state)
    throw new GoDecodeError('boolean or JSON schema expected')
  }),
  'apiextensions/v1.JSONSchemaPropsOrArray': schemaOr((value, state) =>
    Array.isArray(value) ? value.map((item) => schema(item, state)) : isObject(value) ? schema(value, state) : null,
  ),
  'apiextensions/v1.JSONSchemaPropsOrStringArray': schemaOr((value, state) =>
    Array.isArray(value) ? goCodec('[]string').decode(value, state) : isObject(value) ? schema(value, state) : null,
  ),
}
