import { JsonFloat, RepeatedNull } from '@kubewright/api'
import { CaughtError } from '@kubewright/base'

/** A value does not fit its Go type. The message is that of Go's decoder. */
export class GoDecodeError extends CaughtError {}

/** The state of decoding one value. */
export class DecodeState {
  /** The first type mismatch. It does not stop the decoder. */
  mismatch: string | undefined
  /** Whether a struct had an unknown field. */
  unknown = false
  /** The number of object members visited, to compare with the number in the text. Without {@link DecodeState.counts}, fewer. */
  members = 0
  /** Whether the members of raw JSON are counted too. */
  readonly counts: boolean
  /** Whether to distinguish empty lists and maps from absent ones where JSON shows both. Stored objects do not. */
  readonly keepEmpty: boolean
  /** Whether to keep empty lists that JSON omits, as Go does in memory. Implies {@link DecodeState.keepEmpty}. */
  readonly inMemory: boolean
  /** Whether fields may be a {@link RepeatedNull}. */
  readonly repeated: boolean
  /** Whether to write null for unset lists, maps and times that are never omitted, as clients see them. */
  readonly nulls: boolean
  /** Whether to visit fields in document order, so that the first mismatch is the one that Go finds first. */
  readonly inOrder: boolean
  /**
   * Whether the result may share parts with the input: a part that already has its canonical form is returned as it is. The caller must
   * not change the result while it still uses the input. Otherwise the result is a copy, except for raw JSON.
   */
  readonly shares: boolean
  /** Whether raw JSON is copied. Managed fields never are: nothing changes their sets of fields in place. */
  readonly copiesRaw: boolean
  /** A stack for the fields of the structs that are being decoded: indexes of fields, and their decoded values. */
  readonly order: number[] = []
  readonly values: unknown[] = []
  top = 0
  /** The name of the innermost struct, and the path of fields to it. */
  struct = ''
  readonly labels: string[] = []
  depth = 0

  /** Whether error texts are those of the JSON decoder, or of the converter of maps, which stops at the first error. */
  readonly words: 'json' | 'map'

  constructor(
    options: {
      readonly inOrder?: boolean | undefined
      readonly keepEmpty?: boolean | undefined
      readonly inMemory?: boolean | undefined
      readonly repeated?: boolean | undefined
      readonly nulls?: boolean | undefined
      readonly words?: 'json' | 'map' | undefined
      readonly shares?: boolean | undefined
      readonly copiesRaw?: boolean | undefined
      readonly counts?: boolean | undefined
    } = {},
  ) {
    this.counts = options.counts ?? false
    this.copiesRaw = options.copiesRaw ?? false
    this.nulls = options.nulls ?? false
    this.words = options.words ?? 'json'
    this.shares = options.shares ?? false
    this.inOrder = options.inOrder ?? false
    this.repeated = options.repeated ?? false
    this.inMemory = options.inMemory ?? false
    this.keepEmpty = options.keepEmpty ?? this.inMemory
  }

  /** The value of a field that was given twice and null the second time. Go ignores null for types without a null value. */
  resolve(value: unknown, codec: GoCodec, type: string): unknown {
    if (!(value instanceof RepeatedNull)) return value
    return codec.zero(false) === null || resetByNull.has(type) ? null : value.earlier
  }

  /** Records that a value has the wrong type. `kind` is the underlying kind of the type. */
  mismatched(value: unknown, type: string, kind: GoKind): undefined {
    if (this.words === 'map') throw new GoDecodeError(conversionProblem(value, type, kind))
    const wantsNumber = kind.startsWith('int') || kind.startsWith('uint')
    const found = wantsNumber && isNumber(value) ? `number ${literalOf(value)}` : goJsonKind(value)
    this.mismatch ??= this.describe(found, type)
    return undefined
  }

  describe(found: string, type: string): string {
    const field = this.labels.slice(0, this.depth).join('.')
    // The converter does not report the position of a value.
    const place = this.depth === 0 || this.words === 'map' ? 'value' : `struct field ${this.struct}.${field}`
    return `json: cannot unmarshal ${found} into Go ${place} of type ${type}`
  }
}

/** Types whose own decoder clears the value for null although the zero value is none. */
const resetByNull: ReadonlySet<string> = new Set(['resource.Quantity'])

/** The underlying kind of a Go type. */
export type GoKind = 'string' | 'bool' | 'int32' | 'int64' | 'int' | 'uint64' | 'float64' | 'slice' | 'map' | 'struct'

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof JsonFloat
}

/** A number as it is written in the document. */
export function literalOf(value: unknown): string {
  return value instanceof JsonFloat ? value.literal : String(value)
}

/** The error text of apimachinery's converter for a value of the wrong type (runtime/converter.go). */
function conversionProblem(value: unknown, type: string, kind: GoKind): string {
  const from =
    typeof value === 'string'
      ? 'string'
      : typeof value === 'boolean'
        ? 'bool'
        : isNumber(value)
          ? Number.isInteger(Number(value)) && Math.abs(Number(value)) < 2 ** 63
            ? 'int64'
            : 'float64'
          : Array.isArray(value)
            ? 'slice'
            : 'map'
  if (kind === 'slice' || kind === 'map') return `cannot restore ${kind} from ${from}`
  if (kind === 'struct') return `cannot restore struct from: ${from}`
  // Go converts between numbers and from integers to strings, but JSON does not.
  const convertible = isNumber(value) && kind !== 'bool' && (kind !== 'string' || from === 'int64')
  return convertible ? `cannot convert ${from} to ${type}` : `unrecognized type: ${kind}`
}

/** The name of a JSON type in errors of Go's decoder. */
export function goJsonKind(value: unknown): string {
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint' || value instanceof JsonFloat) return 'number'
  return Array.isArray(value) ? 'array' : typeof value
}

/** The error text of Go when a value without kind and apiVersion is not an object. */
export function typeMetaMismatch(value: unknown): string {
  const type = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  return `json: cannot unmarshal ${goJsonKind(value)} into Go value of type ${type}`
}

/** The error text of Go when kind or apiVersion is not a string; undefined when both are valid. */
export function typeMetaProblem(object: {
  readonly apiVersion?: unknown
  readonly kind?: unknown
}): string | undefined {
  for (const field of ['apiVersion', 'kind'] as const) {
    const found = object[field]
    if (typeof found === 'string' || found === undefined || found === null) continue
    const why = `json: cannot unmarshal ${goJsonKind(found)} into Go struct field .${field} of type string`
    return `couldn't get version/kind; json parse error: ${why}`
  }
  return undefined
}

/** Decodes and re-encodes the JSON of one Go type in one step: returns the JSON that Go prints after decoding the input. */
export interface GoCodec {
  /** The canonical form of a value, or undefined for a zero value that omitempty drops. */
  decode(value: unknown, state: DecodeState): unknown
  /** The zero value where it is not omitted. Structs contain nulls only if `nulls` is set. */
  zero(nulls: boolean): unknown
  /** Whether omitempty drops the zero value: true for everything but structs. */
  readonly omittable: boolean
}
