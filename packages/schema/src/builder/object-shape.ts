import type { MayBeAbsent, Schema } from './schema.ts'
import type { Junctors, ObjectValidation } from './validation-options.ts'

/** The fields of an object by name. */
export type Fields = Readonly<Record<string, Schema<unknown, unknown>>>

// The mapped type makes the compiler print the fields instead of an intersection.
type Flat<T> = { [K in keyof T]: T[K] } & unknown

type AbsentKeys<F extends Fields, Side extends '$out' | '$in'> = {
  [K in keyof F]: MayBeAbsent<F[K][Side]> extends true ? K : never
}[keyof F]
// Mapped over a parameter that extends `keyof F`, as Pick is, so that editors know where a field is declared and what its comment says.
type Present<F extends Fields, K extends keyof F, Side extends '$out' | '$in'> = { -readonly [P in K]: F[P][Side] }
type Absent<F extends Fields, K extends keyof F, Side extends '$out' | '$in'> = {
  -readonly [P in K]?: Exclude<F[P][Side], undefined>
}
type Shape<F extends Fields, Side extends '$out' | '$in'> = Flat<
  Present<F, Exclude<keyof F, AbsentKeys<F, Side>>, Side> & Absent<F, AbsentKeys<F, Side>, Side>
>

/** The names of the fields that are `.optional()`. */
export type OptionalField<F extends Fields> = AbsentKeys<F, '$out'> & string

// One arm per key of the group: that key present, its rivals impossible.
type ExactlyOne<T, Group extends PropertyKey, K extends Group = Group> = [Group] extends [never]
  ? T
  : K extends K
    ? Flat<
        { [P in keyof T as P extends Group ? never : P]: T[P] } & {
          [P in keyof T as P extends K ? P : never]-?: Exclude<T[P], undefined>
        } & { [P in Exclude<Group, K>]?: never }
      >
    : never
type Opened<T, Open> = Open extends true ? Flat<T & { [key: string]: unknown }> : T

/** What a read of an object with these fields returns. */
export type ObjectOut<F extends Fields, One extends PropertyKey = never, Open = false> = Opened<
  ExactlyOne<Shape<F, '$out'>, One>,
  Open
>

/** What a write of an object with these fields takes. */
export type ObjectIn<F extends Fields, One extends PropertyKey = never, Open = false> = Opened<
  ExactlyOne<Shape<F, '$in'>, One>,
  Open
>

/** Constraints of `s.object()`. */
export interface ObjectOptions<F extends Fields, One extends OptionalField<F> = never, Open extends boolean = false>
  extends Junctors<ObjectValidation<{ readonly [K in keyof F]: F[K]['$out'] }>> {
  /** The least number of fields that are there. */
  readonly minProperties?: number
  /** The greatest number of fields that are there. */
  readonly maxProperties?: number
  /** Whether server-side apply merges field by field (`granular`) or replaces the whole object. @default 'granular' */
  readonly mapType?: 'granular' | 'atomic'
  /** Keeps fields that the schema does not name, instead of pruning them. @default false */
  readonly preserveUnknownFields?: Open
  /**
   * Further names for the `required` list: defaulted fields that shall be listed all the same (as controller-gen does it), and,
   * with `preserveUnknownFields`, names that are not fields. Fields are required unless they are optional or have a default.
   */
  readonly required?: readonly string[]
  /** Exactly one of these optional fields must be there; the type becomes a union. Emitted as a CEL rule, as controller-gen does. */
  readonly exactlyOneOf?: readonly One[]
  /** At most one of these optional fields may be there. Emitted as a CEL rule. */
  readonly atMostOneOf?: readonly OptionalField<F>[]
  /** At least one of these optional fields must be there. Emitted as a CEL rule. */
  readonly atLeastOneOf?: readonly OptionalField<F>[]
}
