import type { MayBeAbsent, Schema } from './schema.ts'
import type { Junctors, ObjectValidation } from './validation-options.ts'

/** The fields of an object by name. */
export type Fields = Readonly<Record<string, Schema<unknown, unknown>>>

// The mapped type makes the compiler print the fields instead of an intersection.
type Flat<T> = { [K in keyof T]: T[K] } & unknown

type AbsentKeys<F extends Fields, Side extends '$out' | '$in'> = {
  [K in keyof F]: MayBeAbsent<F[K][Side]> extends true ? K : never
}[keyof F]
// Mapped over a parameter that extends `keyof F`, like Pick, so that editors find the declaration and the comment of a
// field.
type Present<F extends Fields, K extends keyof F, Side extends '$out' | '$in'> = { -readonly [P in K]: F[P][Side] }
type Absent<F extends Fields, K extends keyof F, Side extends '$out' | '$in'> = {
  -readonly [P in K]?: Exclude<F[P][Side], undefined>
}
type Shape<F extends Fields, Side extends '$out' | '$in'> = Flat<
  Present<F, Exclude<keyof F, AbsentKeys<F, Side>>, Side> & Absent<F, AbsentKeys<F, Side>, Side>
>

/** The names of the fields that are `.optional()`. */
export type OptionalField<F extends Fields> = AbsentKeys<F, '$out'> & string

// One arm per key of the group: that key is present, the others are forbidden.
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

/** The type of an object with these fields when read. */
export type ObjectOut<F extends Fields, One extends PropertyKey = never, Open = false> = Opened<
  ExactlyOne<Shape<F, '$out'>, One>,
  Open
>

/** The type of an object with these fields when written. */
export type ObjectIn<F extends Fields, One extends PropertyKey = never, Open = false> = Opened<
  ExactlyOne<Shape<F, '$in'>, One>,
  Open
>

/** Options of `s.object()`. */
export interface ObjectOptions<F extends Fields, One extends OptionalField<F> = never, Open extends boolean = false>
  extends Junctors<ObjectValidation<{ readonly [K in keyof F]: F[K]['$out'] }>> {
  /** The minimum number of fields present. */
  readonly minProperties?: number | undefined
  /** The maximum number of fields present. */
  readonly maxProperties?: number | undefined
  /**
   * Whether server-side apply merges field by field (`granular`) or replaces the object (`atomic`). @default 'granular'
   */
  readonly mapType?: 'granular' | 'atomic' | undefined
  /** Keeps unspecified fields instead of pruning them. @default false */
  readonly preserveUnknownFields?: Open | undefined
  /**
   * Additional names for the `required` list: fields with a default that should be listed anyway (as controller-gen
   * does), and, with `preserveUnknownFields`, names that are not fields. Other fields are required unless they are
   * optional or have a default.
   */
  readonly required?: readonly string[] | undefined
  /**
   * Exactly one of these optional fields must be present; the type becomes a union. Emitted as a CEL rule, like
   * controller-gen does.
   */
  readonly exactlyOneOf?: readonly One[] | undefined
  /** At most one of these optional fields may be present. Emitted as a CEL rule. */
  readonly atMostOneOf?: readonly OptionalField<F>[] | undefined
  /** At least one of these optional fields must be present. Emitted as a CEL rule. */
  readonly atLeastOneOf?: readonly OptionalField<F>[] | undefined
}
