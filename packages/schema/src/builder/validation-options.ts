/** A format of strings that kube-apiserver v1.35 checks; it ignores all others. */
export type StringFormat =
  | 'bsonobjectid'
  | 'byte'
  | 'cidr'
  | 'creditcard'
  | 'date'
  | 'date-time'
  | 'datetime'
  | 'duration'
  | 'email'
  | 'hexcolor'
  | 'hostname'
  | 'ipv4'
  | 'ipv6'
  | 'isbn'
  | 'isbn10'
  | 'isbn13'
  | 'k8s-long-name'
  | 'k8s-short-name'
  | 'mac'
  | 'password'
  | 'rgbcolor'
  | 'ssn'
  | 'uri'
  | 'uuid'
  | 'uuid3'
  | 'uuid4'
  | 'uuid5'

/**
 * Combinations of further validations. As a structural schema demands, an arm `V` only validates: it has no type, default or
 * description of its own, and what it names must exist outside of it.
 */
export interface Junctors<V> {
  /** All arms must hold. */
  readonly allOf?: readonly V[]
  /** At least one arm must hold. */
  readonly anyOf?: readonly V[]
  /** Exactly one arm must hold. */
  readonly oneOf?: readonly V[]
  /** The arm must not hold. */
  readonly not?: V
}

/** Constraints of `s.string()`. */
export interface StringOptions extends Junctors<StringValidation> {
  /** The least number of characters. */
  readonly minLength?: number
  /** The greatest number of characters. */
  readonly maxLength?: number
  /** RE2 syntax, matched anywhere in the string: anchor it with `^` and `$`. Of a RegExp the flags i, m, s and u are understood. */
  readonly pattern?: string | RegExp
  /** A named format that the API server checks. */
  readonly format?: StringFormat
}

/** Validations of a string inside a combination. */
export interface StringValidation extends StringOptions {
  /** The allowed values. */
  readonly enum?: readonly string[]
}

interface NumberBounds extends Junctors<NumberValidation> {
  /** The least value. */
  readonly minimum?: number
  /** The greatest value. */
  readonly maximum?: number
  /** Excludes `minimum` itself. @default false */
  readonly exclusiveMinimum?: boolean
  /** Excludes `maximum` itself. @default false */
  readonly exclusiveMaximum?: boolean
  /** The value must be a multiple of this positive number. */
  readonly multipleOf?: number
}

/** Constraints of `s.int()`. */
export interface IntOptions extends NumberBounds {
  /** The range that must hold the value. @default any integer that fits 64 bits */
  readonly format?: 'int32' | 'int64'
}

/** Constraints of `s.number()`. */
export interface NumberOptions extends NumberBounds {
  /** The precision that clients should use; it is not checked. */
  readonly format?: 'float' | 'double'
}

/** Validations of a number inside a combination. */
export interface NumberValidation extends NumberBounds {
  readonly format?: 'int32' | 'int64' | 'float' | 'double'
  /** The allowed values. */
  readonly enum?: readonly number[]
}

/** Validations of a boolean inside a combination. */
export interface BooleanValidation extends Junctors<BooleanValidation> {
  /** The allowed values. */
  readonly enum?: readonly boolean[]
}

/** Validations of a value that is an integer or a string. */
export interface IntOrStringOptions extends Junctors<IntOrStringValidation> {
  /** The least value, when it is an integer. */
  readonly minimum?: number
  /** The greatest value, when it is an integer. */
  readonly maximum?: number
  /** RE2 syntax, when it is a string. */
  readonly pattern?: string | RegExp
  /** The least number of characters, when it is a string. */
  readonly minLength?: number
  /** The greatest number of characters, when it is a string. */
  readonly maxLength?: number
}

/** Validations of an integer or string inside a combination. */
export interface IntOrStringValidation extends IntOrStringOptions {
  /** The allowed values. */
  readonly enum?: readonly (number | string)[]
}

interface ListSize<Item> extends Junctors<ArrayValidation<Item>> {
  /** The least number of items. */
  readonly minItems?: number
  /** The greatest number of items. */
  readonly maxItems?: number
}

/** Validations of a list inside a combination. */
export interface ArrayValidation<Item> extends ListSize<Item> {
  /** What each item must fulfil. */
  readonly items?: ValidationOf<Item>
}

/** The fields of `Item` that can identify it in a list map: scalar, never null, and required or defaulted. */
export type ListKey<Item> = {
  [K in keyof Item & string]-?: [Item[K]] extends [string | number | boolean] ? K : never
}[keyof Item & string]

interface PlainListOptions<Item> extends ListSize<Item> {
  /**
   * How server-side apply merges: `atomic` replaces the whole list, `set` holds each scalar once.
   * @default 'atomic'
   */
  readonly listType?: 'atomic' | 'set'
  readonly keys?: never
}

interface MapListOptions<Item> extends ListSize<Item> {
  /** `map` merges item by item: two items with the same `keys` are the same item, and may not both be in the list. */
  readonly listType: 'map'
  /** The fields that identify an item. */
  readonly keys: readonly [ListKey<Item>, ...ListKey<Item>[]]
}

/** Constraints of `s.array()`. */
export type ArrayOptions<Item> = PlainListOptions<Item> | MapListOptions<Item>

/** Constraints of `s.map()`. */
export interface MapOptions extends Junctors<MapValidation> {
  /** The least number of entries. */
  readonly minProperties?: number
  /** The greatest number of entries. */
  readonly maxProperties?: number
  /** Whether server-side apply merges entry by entry (`granular`) or replaces the whole map. @default 'granular' */
  readonly mapType?: 'granular' | 'atomic'
}

/** Validations of a map inside a combination. */
export interface MapValidation extends Junctors<MapValidation> {
  readonly minProperties?: number
  readonly maxProperties?: number
  /** Keys that must be there. */
  readonly required?: readonly string[]
}

/** Validations of an object inside a combination. */
export interface ObjectValidation<T> extends Junctors<ObjectValidation<T>> {
  readonly minProperties?: number
  readonly maxProperties?: number
  /** Fields that must be there. */
  readonly required?: readonly (keyof T & string)[]
  /** What the fields must fulfil where they are there. */
  readonly properties?: { readonly [K in keyof T & string]?: ValidationOf<T[K]> }
}

/** Every validation keyword, for a value of unknown type. */
export interface AnyValidation extends Junctors<AnyValidation> {
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string | RegExp
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: boolean
  readonly exclusiveMaximum?: boolean
  readonly multipleOf?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: AnyValidation
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly required?: readonly string[]
  readonly properties?: { readonly [name: string]: AnyValidation }
}

/** The validations that a combination can say about a value of type `T`. */
export type ValidationOf<T> = unknown extends T
  ? AnyValidation
  : [NonNullable<T>] extends [string]
    ? StringValidation
    : [NonNullable<T>] extends [number]
      ? NumberValidation
      : [NonNullable<T>] extends [boolean]
        ? BooleanValidation
        : [NonNullable<T>] extends [string | number]
          ? IntOrStringValidation
          : [NonNullable<T>] extends [readonly (infer Item)[]]
            ? ArrayValidation<Item>
            : [NonNullable<T>] extends [object]
              ? string extends keyof NonNullable<T>
                ? AnyValidation
                : ObjectValidation<NonNullable<T>>
              : AnyValidation
