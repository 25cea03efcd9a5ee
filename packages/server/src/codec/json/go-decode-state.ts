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
export type GoKind = 'string' | 'bool' | 'int32' | 'int64' | 'int' | 'uint64' | 'float64' | 'slice' | 'map' | 'struct'

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

/** What Go's decoder calls a JSON value. */
export function goJsonKind(value: unknown): string {
  if (typeof value === 'boolean') return 'bool'
  if (typeof value === 'bigint') return 'number'
  return Array.isArray(value) ? 'array' : typeof value
}

/** What Go says when kind and apiVersion are looked for in something that is no object. */
export function typeMetaMismatch(value: unknown): string {
  const type = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
  return `json: cannot unmarshal ${goJsonKind(value)} into Go value of type ${type}`
}

/** What Go says when it looks for kind and apiVersion and finds other things than texts; undefined when both can be read. */
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

/** Reads and writes the JSON of one Go type at once: takes any JSON value and gives the one that Go would print after decoding it. */
export interface GoCodec {
  /** The value in its canonical form; undefined for Go's zero value of a type that omitempty drops. */
  decode(value: unknown, state: DecodeState): unknown
  /** What the zero value looks like where it is not left out; structs leave out the nulls within them unless asked for. */
  zero(nulls: boolean): unknown
  /** Whether omitempty drops the zero value: true for everything but structs. */
  readonly omittable: boolean
}
