/** A string format that kube-apiserver v1.35 checks. It ignores all others. */
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
 * Combinations of further validations. As required of structural schemas, an arm `V` only validates: it has no type,
 * default or description, and the fields it refers to must exist outside of it.
 */
export interface Junctors<V> {
  /** All arms must hold. */
  readonly allOf?: readonly V[] | undefined
  /** At least one arm must hold. */
  readonly anyOf?: readonly V[] | undefined
  /** Exactly one arm must hold. */
  readonly oneOf?: readonly V[] | undefined
  /** The arm must not hold. */
  readonly not?: V | undefined
}

/** Constraints of `s.string()`. */
export interface StringOptions extends Junctors<StringValidation> {
  /** The minimum number of characters. */
  readonly minLength?: number | undefined
  /** The maximum number of characters. */
  readonly maxLength?: number | undefined
  /**
   * RE2 syntax, matched anywhere in the string: anchor it with `^` and `$`. The RegExp flags i, m, s and u are
   * supported.
   */
  readonly pattern?: string | RegExp | undefined
  /** A named format that the API server checks. */
  readonly format?: StringFormat | undefined
}

/** Validations of a string inside a combination. */
export interface StringValidation extends StringOptions {
  /** The allowed values. */
  readonly enum?: readonly string[] | undefined
}

interface NumberBounds extends Junctors<NumberValidation> {
  /** The minimum value. */
  readonly minimum?: number | undefined
  /** The maximum value. */
  readonly maximum?: number | undefined
  /** Excludes `minimum` itself. @default false */
  readonly exclusiveMinimum?: boolean | undefined
  /** Excludes `maximum` itself. @default false */
  readonly exclusiveMaximum?: boolean | undefined
  /** The value must be a multiple of this positive number. */
  readonly multipleOf?: number | undefined
}

/** Constraints of `s.int()`. */
export interface IntOptions extends NumberBounds {
  /** The range of the value. @default any 64-bit integer */
  readonly format?: 'int32' | 'int64' | undefined
}

/** Constraints of `s.number()`. */
export interface NumberOptions extends NumberBounds {
  /** The precision that clients should use. It is not checked. */
  readonly format?: 'float' | 'double' | undefined
}

/** Validations of a number inside a combination. */
export interface NumberValidation extends NumberBounds {
  readonly format?: 'int32' | 'int64' | 'float' | 'double' | undefined
  /** The allowed values. */
  readonly enum?: readonly number[] | undefined
}

/** Validations of a boolean inside a combination. */
export interface BooleanValidation extends Junctors<BooleanValidation> {
  /** The allowed values. */
  readonly enum?: readonly boolean[] | undefined
}

/** Options of `s.intOrString()`. */
export interface IntOrStringOptions extends Junctors<IntOrStringValidation> {
  /** The minimum value, if it is an integer. */
  readonly minimum?: number | undefined
  /** The maximum value, if it is an integer. */
  readonly maximum?: number | undefined
  /** RE2 syntax, if it is a string. */
  readonly pattern?: string | RegExp | undefined
  /** The minimum number of characters, if it is a string. */
  readonly minLength?: number | undefined
  /** The maximum number of characters, if it is a string. */
  readonly maxLength?: number | undefined
}

/** Validations of an integer or string inside a combination. */
export interface IntOrStringValidation extends IntOrStringOptions {
  /** The allowed values. */
  readonly enum?: readonly (number | string)[] | undefined
}

interface ListSize<Item> extends Junctors<ArrayValidation<Item>> {
  /** The minimum number of items. */
  readonly minItems?: number | undefined
  /** The maximum number of items. */
  readonly maxItems?: number | undefined
}

/** Validations of a list inside a combination. */
export interface ArrayValidation<Item> extends ListSize<Item> {
  /** Validations of each item. */
  readonly items?: ValidationOf<Item> | undefined
}

/** The fields of `Item` that can identify it in a list map: scalar, never null, and required or defaulted. */
export type ListKey<Item> = {
  [K in keyof Item & string]-?: [Item[K]] extends [string | number | boolean] ? K : never
}[keyof Item & string]

interface PlainListOptions<Item> extends ListSize<Item> {
  /**
   * How server-side apply merges: `atomic` replaces the list, `set` merges scalars and contains each once.
   * @default 'atomic'
   */
  readonly listType?: 'atomic' | 'set' | undefined
  readonly keys?: never
}

interface MapListOptions<Item> extends ListSize<Item> {
  /** `map` merges item by item: two items with the same `keys` are the same item and must not both be in the list. */
  readonly listType: 'map'
  /** The fields that identify an item. */
  readonly keys: readonly [ListKey<Item>, ...ListKey<Item>[]]
}

/** Constraints of `s.array()`. */
export type ArrayOptions<Item> = PlainListOptions<Item> | MapListOptions<Item>

/** Constraints of `s.map()`. */
export interface MapOptions extends Junctors<MapValidation> {
  /** The minimum number of entries. */
  readonly minProperties?: number | undefined
  /** The maximum number of entries. */
  readonly maxProperties?: number | undefined
  /**
   * Whether server-side apply merges entry by entry (`granular`) or replaces the map (`atomic`). @default 'granular'
   */
  readonly mapType?: 'granular' | 'atomic' | undefined
}

/** Validations of a map inside a combination. */
export interface MapValidation extends Junctors<MapValidation> {
  readonly minProperties?: number | undefined
  readonly maxProperties?: number | undefined
  /** Keys that must be present. */
  readonly required?: readonly string[] | undefined
}

/** Validations of an object inside a combination. */
export interface ObjectValidation<T> extends Junctors<ObjectValidation<T>> {
  readonly minProperties?: number | undefined
  readonly maxProperties?: number | undefined
  /** Fields that must be present. */
  readonly required?: readonly (keyof T & string)[] | undefined
  /** Validations of the fields that are present. */
  readonly properties?: { readonly [K in keyof T & string]?: ValidationOf<T[K]> } | undefined
}

/** All validation keywords, for a value of unknown type. */
export interface AnyValidation extends Junctors<AnyValidation> {
  readonly minLength?: number | undefined
  readonly maxLength?: number | undefined
  readonly pattern?: string | RegExp | undefined
  readonly format?: string | undefined
  readonly enum?: readonly unknown[] | undefined
  readonly minimum?: number | undefined
  readonly maximum?: number | undefined
  readonly exclusiveMinimum?: boolean | undefined
  readonly exclusiveMaximum?: boolean | undefined
  readonly multipleOf?: number | undefined
  readonly minItems?: number | undefined
  readonly maxItems?: number | undefined
  readonly items?: AnyValidation | undefined
  readonly minProperties?: number | undefined
  readonly maxProperties?: number | undefined
  readonly required?: readonly string[] | undefined
  readonly properties?: { readonly [name: string]: AnyValidation } | undefined
}

/** The validations that a combination can apply to a value of type `T`. */
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
