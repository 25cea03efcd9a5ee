import { unreachable } from '@kubewright/base'
import { type GoDeclarations, type GoField, printGoType } from '../go-declarations.ts'
import { DecodeState, type GoCodec, GoDecodeError, type GoKind } from './go-decode-state.ts'
import { boolCodec, bytesCodec, floatCodec, integerCodec, integers, stringCodec } from './go-scalar-codecs.ts'
import { specialCodecs } from './go-special-codecs.ts'

export {
  DecodeState,
  type GoCodec,
  GoDecodeError,
  goJsonKind,
  typeMetaMismatch,
  typeMetaProblem,
} from './go-decode-state.ts'

/** The JSON codecs of the Go types of a release. */
export class GoCodecs {
  readonly #declarations: GoDeclarations
  readonly #codecs = new Map<string, GoCodec>()
  readonly #special = specialCodecs((type) => this.codec(type))

  constructor(declarations: GoDeclarations) {
    this.#declarations = declarations
  }

  /** The codec of a Go type such as `core/v1.Pod` or `map[string]string`. Codecs are cached. */
  codec(type: string): GoCodec {
    let codec = this.#codecs.get(type)
    if (!codec) this.#codecs.set(type, (codec = this.#make(type, type)))
    return codec
  }

  /** Decodes a value as a Go type. Throws {@link GoDecodeError} with the error text of Go. */
  decode(type: string, value: unknown): unknown {
    return decodeOnce(this.codec(type), value, new DecodeState({ keepEmpty: true }))
  }

  /** `shown` is the declared type, which error texts print instead of the underlying one. */
  #make(type: string, shown: string): GoCodec {
    const known = this.#special[type]
    if (known) return known
    if (type.startsWith('*')) return pointer(this.codec(type.slice(1)))
    if (type === '[]byte') return bytesCodec(printGoType(shown))
    if (type.startsWith('[]')) return slice(this.codec(type.slice(2)), printGoType(shown))
    if (type.startsWith('map[')) return map(this.codec(type.slice(type.indexOf(']') + 1)), printGoType(shown))
    const integer = integers[type]
    if (integer) return integerCodec(type as GoKind, integer[0], integer[1], printGoType(shown))
    if (type === 'string') return stringCodec(printGoType(shown))
    if (type === 'bool') return boolCodec(printGoType(shown))
    if (type === 'float64') return floatCodec(printGoType(shown))
    const declaration = this.#declarations.find(type)
    if (declaration === undefined) unreachable(`No Go type ${type} is known`)
    if (typeof declaration === 'string') return this.#make(declaration, shown)
    return new StructCodec(type, declaration, (field) => this.codec(field))
  }
}

/** Decodes a value. When that fails, decodes it again in document order to find the error that Go reports first. */
export function decodeOnce(codec: GoCodec, value: unknown, state: DecodeState): unknown {
  try {
    const decoded = codec.decode(value, state)
    if (state.mismatch === undefined) return decoded
  } catch (error) {
    if (!(error instanceof GoDecodeError) || state.words === 'map') throw error
  }
  const ordered = new DecodeState({ inOrder: true, repeated: state.repeated })
  codec.decode(value, ordered)
  throw new GoDecodeError(ordered.mismatch ?? state.mismatch ?? 'the value does not fit its type')
}

function pointer(target: GoCodec): GoCodec {
  return {
    omittable: true,
    zero: () => null,
    decode: (value, state) => {
      if (value === null) return undefined
      const decoded = target.decode(value, state)
      // A pointer that is present has a value, even an empty one.
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
      const source = value as readonly unknown[]
      // Absent as long as the result is the source itself.
      let out: unknown[] | undefined = state.shares ? undefined : new Array(source.length)
      for (let i = 0; i < source.length; i++) {
        const decoded = item.decode(source[i], state)
        const kept = decoded === undefined ? item.zero(state.nulls) : decoded
        if (out === undefined && kept !== source[i]) out = source.slice()
        if (out !== undefined) out[i] = kept
      }
      return out ?? source
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
      const keys = Object.keys(source)
      if (keys.length === 0) return state.keepEmpty ? {} : undefined
      state.members += keys.length
      // Absent as long as the result is the source itself.
      let out: Record<string, unknown> | undefined = state.shares ? undefined : {}
      // Go prints maps sorted by key. Errors are found in document order.
      if (!state.inOrder && !isSorted(keys)) {
        keys.sort()
        out = {}
      }
      for (let i = 0; i < keys.length; i++) {
        const key = keys[i]!
        const given = source[key]
        const decoded = given === undefined ? undefined : item.decode(given, state)
        const kept = decoded === undefined && given !== undefined ? item.zero(state.nulls) : decoded
        if (out === undefined && (kept !== given || given === undefined)) out = firstOf(source, keys, i)
        if (out !== undefined && given !== undefined) setOwn(out, key, kept)
      }
      return out ?? source
    },
  }
}

/** A new object with the first members of another. */
function firstOf(source: Record<string, unknown>, keys: readonly string[], count: number): Record<string, unknown> {
  const out: Record<string, unknown> = {}
  for (let i = 0; i < count; i++) setOwn(out, keys[i]!, source[keys[i]!])
  return out
}

function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if (keys[i - 1]! > keys[i]!) return false
  return true
}

function setOwn(object: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
  } else object[key] = value
}

/** Defaults that Go declares with the type and that apply wherever it is used. All others belong to the kinds. */
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

/**
 * Maps in which an empty value differs from an absent one until the object is stored, because kube-apiserver compares them strictly or shows
 * them in errors. `semanticEqual` ignores the difference by the name of the field.
 */
const keepsEmptyMap: ReadonlySet<string> = new Set([
  'ConfigMap.binaryData',
  'LabelSelector.matchLabels',
  'ObjectMeta.labels',
  'PersistentVolumeSpec.capacity',
  'Secret.data',
])

interface BoundField extends GoField {
  readonly codec: GoCodec
  /** Whether the field is written even when it is absent in the input. */
  readonly always: boolean
  /** Whether an empty list or map is omitted. */
  readonly omitsEmpty: boolean
  /** Whether an empty map is kept in the form of objects in memory. Empty lists always are. */
  readonly keepsEmptyMap: boolean
  /** Whether the zero value is null for clients. A time that is not set is null everywhere and has an owner. */
  readonly nullable: boolean
}

interface BoundFields {
  /** In the order of their declaration, in which Go writes them. */
  readonly fields: readonly BoundField[]
  readonly indexes: ReadonlyMap<string, number>
  /** For each index, the next index from there on of a field that is written even when it is absent; the number of fields at the end. */
  readonly always: { readonly withNulls: readonly number[]; readonly withoutNulls: readonly number[] }
}

function nextIndexes(fields: readonly BoundField[], isWanted: (field: BoundField) => boolean): readonly number[] {
  const next: number[] = new Array(fields.length + 1)
  next[fields.length] = fields.length
  for (let i = fields.length - 1; i >= 0; i--) next[i] = isWanted(fields[i]!) ? i : next[i + 1]!
  return next
}

/** Sorts a few numbers in place. */
function sortRange(numbers: number[], start: number, end: number): void {
  for (let i = start + 1; i < end; i++) {
    const number = numbers[i]!
    let at = i
    for (; at > start && numbers[at - 1]! > number; at--) numbers[at] = numbers[at - 1]!
    numbers[at] = number
  }
}

class StructCodec implements GoCodec {
  readonly omittable = false
  readonly #name: string
  readonly #printed: string
  readonly #declared: readonly GoField[]
  readonly #defaults: readonly (readonly [string, unknown])[]
  readonly #codecOf: (type: string) => GoCodec
  #fields: BoundFields | undefined

  constructor(type: string, fields: readonly GoField[], codecOf: (type: string) => GoCodec) {
    this.#name = type.slice(type.lastIndexOf('.') + 1)
    this.#printed = printGoType(type)
    this.#declared = fields
    this.#codecOf = codecOf
    this.#defaults = Object.entries(declaredDefaults[type] ?? {})
  }

  /** Resolved on first use, because types may contain themselves. */
  get #bound(): BoundFields {
    return (this.#fields ??= this.#bind())
  }

  #bind(): BoundFields {
    const fields = this.#declared.map((field) => {
      const codec = this.#codecOf(field.type)
      const always = !field.omitZero && (!field.omitEmpty || !codec.omittable)
      const isTime = field.type === 'meta/v1.Time' || field.type === 'meta/v1.MicroTime'
      const nullable = !isTime && codec !== this && !(codec instanceof StructCodec) && codec.zero(false) === null
      return {
        ...field,
        codec,
        always,
        nullable,
        omitsEmpty: field.omitEmpty && !field.type.startsWith('*') && codec.omittable,
        keepsEmptyMap: keepsEmptyMap.has(`${this.#name}.${field.name}`),
      }
    })
    return {
      fields,
      indexes: new Map(fields.map(({ name }, index) => [name, index])),
      always: {
        withNulls: nextIndexes(fields, ({ always }) => always),
        withoutNulls: nextIndexes(fields, ({ always, nullable }) => always && !nullable),
      },
    }
  }

  zero(nulls: boolean): Record<string, unknown> {
    const out: Record<string, unknown> = {}
    for (const { name, codec, always, nullable } of this.#bound.fields) {
      if (always && (nulls || !nullable)) out[name] = codec.zero(nulls)
    }
    return out
  }

  decode(value: unknown, state: DecodeState): unknown {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      // Null leaves a struct unchanged.
      if (value !== null) state.mismatched(value, this.#printed, 'struct')
      return this.zero(state.nulls)
    }
    const source = value as Record<string, unknown>
    if (state.inOrder) this.#visitInOrder(source, state)
    const { fields, indexes, always: tables } = this.#bound
    const always = state.nulls ? tables.withNulls : tables.withoutNulls
    const { order, values } = state
    const base = state.top
    // Visits the fields that the source has, not all that the struct declares: most of a large struct is unset.
    let top = base
    let last = -1
    let count = 0
    // Whether the result has the members of the source in the same order.
    let same = true
    let sorted = true
    for (const key in source) {
      if (source[key] === undefined) {
        same = false
        continue
      }
      count++
      const index = indexes.get(key)
      if (index === undefined) {
        same = false
        continue
      }
      if (index < last) sorted = false
      last = index
      order[top++] = index
    }
    state.members += count
    if (count !== top - base) state.unknown = true
    if (!sorted) {
      sortRange(order, base, top)
      same = false
    }
    state.top = top
    const struct = state.struct
    const depth = state.depth++
    let changed = false
    let next = always[0]!
    for (let i = base; i < top; i++) {
      const index = order[i]!
      if (next < index) same = false
      next = always[index + 1]!
      const field = fields[index]!
      const given = source[field.name]
      const decoded = this.#decodeField(field, given, state, depth)
      values[i] = decoded
      if (decoded === undefined) same = false
      else if (decoded !== given) changed = true
    }
    state.depth = depth
    state.struct = struct
    state.top = base
    if (same && next === fields.length) {
      if (!changed && state.shares && this.#hasDefaults(source)) return source
      // Copying the shape of the source is several times faster than adding its members one by one.
      const out = { ...source }
      if (changed) for (let i = base; i < top; i++) out[fields[order[i]!]!.name] = values[i]
      if (this.#defaults.length > 0) this.#setDefaults(out)
      return out
    }
    const out: Record<string, unknown> = {}
    next = always[0]!
    for (let i = base; i < top; i++) {
      const index = order[i]!
      for (; next < index; next = always[next + 1]!) out[fields[next]!.name] = fields[next]!.codec.zero(state.nulls)
      next = always[index + 1]!
      if (values[i] !== undefined) out[fields[index]!.name] = values[i]
    }
    for (; next < fields.length; next = always[next + 1]!) {
      out[fields[next]!.name] = fields[next]!.codec.zero(state.nulls)
    }
    if (this.#defaults.length > 0) this.#setDefaults(out)
    return out
  }

  /** The value of a field that is present in the source; undefined when the result omits it. */
  #decodeField(field: BoundField, source: unknown, state: DecodeState, depth: number): unknown {
    const given = state.repeated ? state.resolve(source, field.codec, field.type) : source
    let decoded: unknown
    if (given !== undefined) {
      state.struct = this.#name
      state.labels[depth] = field.label
      decoded = field.codec.decode(given, state)
    }
    if (decoded === undefined || decoded === null) {
      if (!field.always || (field.nullable && !state.nulls)) return undefined
      // A zero time is null.
      return decoded === undefined ? field.codec.zero(state.nulls) : null
    }
    if (field.omitsEmpty && isEmpty(decoded)) {
      if (!state.inMemory || !(field.keepsEmptyMap || Array.isArray(decoded))) return undefined
    }
    return decoded
  }

  #hasDefaults(source: Readonly<Record<string, unknown>>): boolean {
    for (const [name] of this.#defaults) if (source[name] === undefined || source[name] === null) return false
    return true
  }

  #setDefaults(out: Record<string, unknown>): void {
    for (const [name, fallback] of this.#defaults) out[name] ??= fallback
  }

  #visitInOrder(source: Record<string, unknown>, state: DecodeState): void {
    const { fields, indexes } = this.#bound
    const struct = state.struct
    const depth = state.depth++
    for (const key of Object.keys(source)) {
      const index = indexes.get(key)
      if (index === undefined) continue
      const field = fields[index]!
      state.struct = this.#name
      state.labels[depth] = field.label
      field.codec.decode(state.repeated ? state.resolve(source[key], field.codec, field.type) : source[key], state)
    }
    state.depth = depth
    state.struct = struct
  }
}

function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.length === 0
  for (const _ in value) return false
  return true
}
