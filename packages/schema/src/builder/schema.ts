import type { JSONSchemaProps, ValidationRule } from '../json-schema.ts'
import type { PathOf } from './path-of.ts'

/**
 * Whether a field must be written: `required` fields are listed in the object's `required`, `optional` ones may be absent, and
 * `defaulted` ones may be absent on write but are always there on read.
 */
export type Presence = 'required' | 'optional' | 'defaulted'

/**
 * Whether `T` says that the field may be absent. `unknown` and `any` contain undefined too, but cannot say so: a field of such a type
 * counts as required even if it is `.optional()`, so give it the type JsonValue instead.
 */
export type MayBeAbsent<T> = 0 extends 1 & T ? false : true extends (T extends undefined ? true : never) ? true : false

/** A path to a field below a node as `fieldPath` of a rule spells it: `.a.b`, with `['a-b']` for names that need quotes. */
export type RuleFieldPath<T> = `.${PathOf<T>}` | `['${string}']${string}` | `.${string}['${string}']${string}`

/** What a CEL rule carries besides its expression; the names are those of `x-kubernetes-validations`. */
export interface RuleOptions<T> {
  /** The text of the error. @default `failed rule: ` and the rule */
  readonly message?: string
  /** A CEL expression that evaluates to the text of the error; wins over `message`. */
  readonly messageExpression?: string
  /** The machine readable reason of the error. @default 'FieldValueInvalid' */
  readonly reason?: NonNullable<ValidationRule['reason']>
  /** The field below this one that the error is reported for. @default the field that carries the rule */
  readonly fieldPath?: RuleFieldPath<T>
  /** Evaluates the rule on create too, with `oldSelf` as a CEL optional. @default false */
  readonly optionalOldSelf?: boolean
}

/**
 * A structural schema as an immutable value: `json` is what the CRD carries, `Out` is what a read returns (defaults filled) and `In`
 * what a write takes (defaults optional). Each method returns a new value and leaves this one alone.
 */
export interface Schema<Out, In = Out> {
  /** Type only: what a read returns. Reading it at run time gives `undefined`. */
  readonly $out: Out
  /** Type only: what a write takes. Reading it at run time gives `undefined`. */
  readonly $in: In
  /** The OpenAPI v3 schema, deeply frozen, keys in alphabetical order as controller-gen writes them. */
  readonly json: JSONSchemaProps
  /** How an object that holds this schema as a field treats the field. */
  readonly presence: Presence

  /** The field may be absent. */
  optional(): Schema<Out | undefined, In | undefined>
  /** The value may be `null`. */
  nullable(): Schema<Out | null, In | null>
  /**
   * The API server fills in `value` where the field is absent: optional on write, present on read. An object whose fields all have
   * defaults stays absent when it is not written; say `.default({})` to have it created and filled.
   */
  default(value: Exclude<In, undefined>): Schema<Exclude<Out, undefined>, In | undefined>
  /** What `kubectl explain` says about the field. */
  describe(text: string): Schema<Out, In>
  /** A short headline, shown by some user interfaces. */
  title(text: string): Schema<Out, In>
  /** A value for documentation; no one checks or applies it. */
  example(value: Exclude<In, undefined>): Schema<Out, In>
  /**
   * Adds a CEL rule that must be true: `self` is the value, `oldSelf` the stored one (a rule that names it runs on updates only).
   * @example s.string().rule('self == oldSelf', 'is immutable')
   */
  rule(cel: string, message?: string | RuleOptions<Out>): Schema<Out, In>
}

/** What a read of a schema's value returns: defaults filled. */
export type SchemaOut<S extends Schema<unknown, unknown>> = S['$out']

/** What a write of a schema's value takes: defaulted fields may be left out. */
export type SchemaIn<S extends Schema<unknown, unknown>> = S['$in']
