/**
 * The kinds of CEL types. `struct` is an object with declared fields, `opaque` is an extension type with methods only.
 */
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
 * A CEL type. It serves as a static type in the checker and as the value of `type(x)` in the evaluator. Immutable.
 * Compare types with {@link sameType}, never by identity, because parameterised types are created on demand.
 */
export class CelType {
  readonly kind: CelKind
  /** The name used in error messages and type identifiers, for example `google.protobuf.Duration`. */
  readonly name: string
  readonly params: readonly CelType[]
  #text: string | undefined

  constructor(kind: CelKind, name: string, params: readonly CelType[] = []) {
    this.kind = kind
    this.name = name
    this.params = params
  }

  /** Formats the type like cel-go's compile errors: `list(int)`, `map(string, dyn)`, `duration`, `null`. */
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

/** Any value; treated like dyn. */
export const ANY: CelType = new CelType('any', 'any')
/** Booleans. */
export const BOOL: CelType = new CelType('bool', 'bool')
/** Byte sequences. */
export const BYTES: CelType = new CelType('bytes', 'bytes')
/** 64-bit floating point numbers. */
export const DOUBLE: CelType = new CelType('double', 'double')
/** Lengths of time. */
export const DURATION: CelType = new CelType('duration', 'google.protobuf.Duration')
/** Values whose type is known only at run time. */
export const DYN: CelType = new CelType('dyn', 'dyn')
/**
 * The type of an expression that failed its check. It is assignable to and from every type, so that one mistake is
 * reported once.
 */
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

/** Returns the type of lists with elements of type `element`. */
export function listType(element: CelType): CelType {
  return new CelType('list', 'list', [element])
}

/** Returns the type of maps from `key` to `value`. */
export function mapType(key: CelType, value: CelType): CelType {
  return new CelType('map', 'map', [key, value])
}

/** Returns the type of optional values. */
export function optionalType(value: CelType): CelType {
  return new CelType('opaque', 'optional_type', [value])
}

/** Returns the type of a type value; for example, of the identifier `int`. */
export function typeOfType(of: CelType): CelType {
  return new CelType('type', 'type', [of])
}

/** Returns a type parameter, for overloads such as `size(list(A))`. */
export function typeParam(name: string): CelType {
  return new CelType('typeParam', name)
}

/** Returns an extension type with methods but no fields. */
export function opaqueType(name: string, ...params: readonly CelType[]): CelType {
  return new CelType('opaque', name, params)
}

/** Returns a type with named fields. The environment looks up the fields by the name of the type. */
export function structType(name: string): CelType {
  return new CelType('struct', name)
}

/** Lists of anything. */
export const LIST_OF_DYN: CelType = listType(DYN)
/** Maps of anything. */
export const MAP_OF_DYN: CelType = mapType(DYN, DYN)

/** Reports whether two types are equal, including their parameters. */
export function sameType(a: CelType, b: CelType): boolean {
  if (a === b) return true
  if (a.kind !== b.kind || a.name !== b.name || a.params.length !== b.params.length) return false
  for (let i = 0; i < a.params.length; i++) {
    if (!sameType(a.params[i]!, b.params[i]!)) return false
  }
  return true
}

/** Reports whether the type is `optional_type(...)`. */
export function isOptionalType(t: CelType): boolean {
  return t.kind === 'opaque' && t.name === 'optional_type'
}
