/** The kinds of CEL types; `struct` is an object with declared fields, `opaque` an extension type with methods only. */
export type CelKind =
  | 'any'
  | 'bool'
  | 'bytes'
  | 'double'
  | 'duration'
  | 'dyn'
  | 'error'
  | 'int'
  | 'list'
  | 'map'
  | 'null'
  | 'opaque'
  | 'string'
  | 'struct'
  | 'timestamp'
  | 'type'
  | 'typeParam'
  | 'uint'

/**
 * A CEL type. The same object serves the checker as a static type and the evaluator as the value of `type(x)`.
 * Immutable; compare with {@link sameType}, never by identity, because parameterised types are built on the fly.
 */
export class CelType {
  readonly kind: CelKind
  /** The name that error messages print and that type identifiers resolve, for example `google.protobuf.Duration`. */
  readonly name: string
  readonly params: readonly CelType[]
  #text: string | undefined

  constructor(kind: CelKind, name: string, params: readonly CelType[] = []) {
    this.kind = kind
    this.name = name
    this.params = params
  }

  /** The type as cel-go prints it in compile messages: `list(int)`, `map(string, dyn)`, `duration`, `null`. */
  toString(): string {
    return (this.#text ??= printType(this))
  }
}

function printType(t: CelType): string {
  switch (t.kind) {
    case 'error':
      return '!error!'
    case 'null':
    case 'duration':
    case 'timestamp':
      return t.kind
  }
  if (t.params.length === 0) return t.name
  return `${t.name}(${t.params.join(', ')})`
}

/** Any value; treated as dyn. */
export const ANY: CelType = new CelType('any', 'any')
/** Booleans. */
export const BOOL: CelType = new CelType('bool', 'bool')
/** Byte sequences. */
export const BYTES: CelType = new CelType('bytes', 'bytes')
/** 64-bit floating point numbers. */
export const DOUBLE: CelType = new CelType('double', 'double')
/** Lengths of time. */
export const DURATION: CelType = new CelType('duration', 'google.protobuf.Duration')
/** Values whose type only evaluation knows. */
export const DYN: CelType = new CelType('dyn', 'dyn')
/** The type of an expression that failed its check; agrees with everything, so that one mistake is reported once. */
export const ERROR: CelType = new CelType('error', '*error*')
/** 64-bit signed integers. */
export const INT: CelType = new CelType('int', 'int')
/** The type of `null`. */
export const NULL: CelType = new CelType('null', 'null_type')
/** Strings. */
export const STRING: CelType = new CelType('string', 'string')
/** Points in time. */
export const TIMESTAMP: CelType = new CelType('timestamp', 'google.protobuf.Timestamp')
/** The type of types. */
export const TYPE: CelType = new CelType('type', 'type')
/** 64-bit unsigned integers. */
export const UINT: CelType = new CelType('uint', 'uint')

/** The type of lists whose elements have type `element`. */
export function listType(element: CelType): CelType {
  return new CelType('list', 'list', [element])
}

/** The type of maps from `key` to `value`. */
export function mapType(key: CelType, value: CelType): CelType {
  return new CelType('map', 'map', [key, value])
}

/** The type of values which may be absent. */
export function optionalType(value: CelType): CelType {
  return new CelType('opaque', 'optional_type', [value])
}

/** The type of the type value of `of`, for example of the identifier `int`. */
export function typeOfType(of: CelType): CelType {
  return new CelType('type', 'type', [of])
}

/** A type parameter, for overloads such as `size(list(A))`. */
export function typeParam(name: string): CelType {
  return new CelType('typeParam', name)
}

/** An extension type that has methods but no fields. */
export function opaqueType(name: string, ...params: readonly CelType[]): CelType {
  return new CelType('opaque', name, params)
}

/** A type with named fields; the environment knows the fields by the type's name. */
export function structType(name: string): CelType {
  return new CelType('struct', name)
}

/** Lists of anything. */
export const LIST_OF_DYN: CelType = listType(DYN)
/** Maps of anything. */
export const MAP_OF_DYN: CelType = mapType(DYN, DYN)

/** Whether two types are the same type, parameters included. */
export function sameType(a: CelType, b: CelType): boolean {
  if (a === b) return true
  if (a.kind !== b.kind || a.name !== b.name || a.params.length !== b.params.length) return false
  for (let i = 0; i < a.params.length; i++) {
    if (!sameType(a.params[i]!, b.params[i]!)) return false
  }
  return true
}

/** Whether the type is `optional_type(...)`. */
export function isOptionalType(t: CelType): boolean {
  return t.kind === 'opaque' && t.name === 'optional_type'
}
