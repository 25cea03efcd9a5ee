import type { JSONSchemaProps, ValidationRule } from '../model/json-schema.ts'
import type { PathOf } from './path-of.ts'

/**
 * Whether a field must be written: `required` fields are listed in `required` of the object, `optional` fields may be
 * absent, and `defaulted` fields may be absent on write but are always present on read.
 */
export type Presence = 'required' | 'optional' | 'defaulted'

/**
 * Whether a field of type `T` may be absent. `unknown` and `any` include undefined but count as required, even if the
 * field is `.optional()`; use the type JsonValue instead.
 */
export type MayBeAbsent<T> = 0 extends 1 & T ? false : true extends (T extends undefined ? true : never) ? true : false

/**
 * The path of a field below a node, in the syntax of a rule's `fieldPath`: `.a.b`, with `['a-b']` for names that need
 * quotes.
 */
export type RuleFieldPath<T> = `.${PathOf<T>}` | `['${string}']${string}` | `.${string}['${string}']${string}`

/** The properties of a CEL rule besides its expression, named as in `x-kubernetes-validations`. */
export interface RuleOptions<T> {
  /** The text of the error. @default `failed rule: ` followed by the rule */
  readonly message?: string | undefined
  /** A CEL expression that evaluates to the text of the error. Takes precedence over `message`. */
  readonly messageExpression?: string | undefined
  /** The machine-readable reason of the error. @default 'FieldValueInvalid' */
  readonly reason?: NonNullable<ValidationRule['reason']> | undefined
  /** The field below this one to which the error refers. @default the field with the rule */
  readonly fieldPath?: RuleFieldPath<T> | undefined
  /** Also evaluates the rule on create, with `oldSelf` as a CEL optional. @default false */
  readonly optionalOldSelf?: boolean | undefined
}

/**
 * A structural schema as an immutable value. `json` is the schema in the CRD, `Out` is the type when read (defaults
 * filled in), `In` is the type when written (defaults optional). Each method returns a new value.
 */
export interface Schema<Out, In = Out> {
  /** Type only: the type when read. `undefined` at run time. */
  readonly $out: Out
  /** Type only: the type when written. `undefined` at run time. */
  readonly $in: In
  /** The OpenAPI v3 schema: deeply frozen, keys in alphabetical order like controller-gen's. */
  readonly json: JSONSchemaProps
  /** Whether the field must be present, if this schema is used as a field of an object. */
  readonly presence: Presence

  /** Allows the field to be absent. */
  optional(): Schema<Out | undefined, In | undefined>
  /** Allows the value to be `null`. */
  nullable(): Schema<Out | null, In | null>
  /**
   * Makes the API server fill in `value` if the field is absent: optional on write, present on read. An object whose
   * fields all have defaults stays absent if it is not written; call `.default({})` to have it created and filled.
   */
  default(value: Exclude<In, undefined>): Schema<Exclude<Out, undefined>, In | undefined>
  /** Sets the description in the CRD, shown by `kubectl explain`. Comments on fields reach editors only. */
  describe(text: string): Schema<Out, In>
  /** Sets a short title, shown by some user interfaces. */
  title(text: string): Schema<Out, In>
  /** Sets an example for documentation. It is neither checked nor applied. */
  example(value: Exclude<In, undefined>): Schema<Out, In>
  /**
   * Adds a CEL rule that must be true. `self` is the value, `oldSelf` the stored one; a rule that refers to `oldSelf`
   * runs on updates only.
   * @example s.string().rule('self == oldSelf', 'is immutable')
   */
  rule(cel: string, message?: string | RuleOptions<Out>): Schema<Out, In>
}

/** The type of a schema's value when read: defaults are filled in. */
export type SchemaOut<S extends Schema<unknown, unknown>> = S['$out']

/** The type of a schema's value when written: fields with a default may be omitted. */
export type SchemaIn<S extends Schema<unknown, unknown>> = S['$in']
