/**
 * The result of a function before {@link OutcomeProblems} checks it: in a promise, any object. The expected type is part
 * of it for the completion of editors, for the inference of literals, and because the compiler reports mistakes in the
 * expression of an arrow function at the field itself.
 */
// No conditional or mapped type of the expected fields: the compiler would fix the type of the result before it has
// checked the function.
export type AnyOutcome<Expected> = Expected | Promise<Expected | object | void> | void

/**
 * Properties that no options have, if a result has wrong fields: the compiler reports that they are missing, and their
 * names are texts that name the fields. Otherwise it would explain in up to ten lines why a promise is not assignable,
 * and accept unknown fields in async functions.
 */
// A mapped type that renames its keys: the compiler ignores it while it infers the parameters of functions, which would
// otherwise fix the type of the result before the function is checked.
export type OutcomeProblems<Name extends string, Result, Expected> = {
  readonly [Problem in Problems<Awaited<Result>, Expected> as `${Name}: ${Problem}`]: never
}

type Primitive = string | number | bigint | boolean | symbol | null | undefined | void

type Problems<T, Expected, Path extends string = '', Depth extends readonly unknown[] = []> = 0 extends 1 & T
  ? never
  : unknown extends Expected
    ? never
    : T extends Primitive
      ? T extends Expected
        ? never
        : `'${Path}' is ${NameOf<T>}, not ${Wanted<Expected, Path>}`
      : Depth['length'] extends 6
        ? T extends Expected
          ? never
          : `'${Path}' has the wrong type`
        : T extends readonly (infer Item)[]
          ? [Extract<Expected, readonly unknown[]>] extends [never]
            ? `'${Path}' is a list, not ${Wanted<Expected, Path>}`
            : Problems<Item, Extract<Expected, readonly unknown[]>[number], `${Path}[]`, [...Depth, 0]>
          : FieldProblems<T, ObjectsOf<Expected>, Expected, Path, Depth>

type FieldProblems<T, Objects, Expected, Path extends string, Depth extends readonly unknown[]> = [Objects] extends [
  never,
]
  ? [Exclude<Expected, undefined>] extends [never]
    ? `'${Path}' must be omitted, as the kind has no such part`
    : `'${Path}' is an object, not ${Wanted<Expected, Path>}`
  : string extends FieldsOf<Objects>
    ? T extends Expected
      ? never
      : `'${Path}' has the wrong type`
    :
        | {
            [Field in keyof T & string]: Field extends FieldsOf<Objects>
              ? Problems<T[Field], TypeOf<Objects, Field>, At<Path, Field>, [...Depth, 0]>
              : `'${At<Path, Field>}' is not a field of ${Owner<Path>}`
          }[keyof T & string]
        | Missing<T, Objects, Path>

type ObjectsOf<T> = T extends Primitive | readonly unknown[] ? never : T
type FieldsOf<T> = T extends unknown ? keyof T & string : never
type TypeOf<T, Field> = T extends unknown ? (Field extends keyof T ? T[Field] : never) : never
type At<Path extends string, Field extends string> = Path extends '' ? Field : `${Path}.${Field}`
type Owner<Path extends string> = Path extends '' ? 'an outcome' : `'${Path}'`

// Required fields that are missing. Not checked for alternatives, as a union has no single list of required fields.
type Missing<T, Objects, Path extends string> =
  IsUnion<Objects> extends true
    ? T extends Objects
      ? never
      : `'${Path}' has the wrong type`
    : {
        [Field in keyof Objects & string]-?: Record<never, never> extends Pick<Objects, Field>
          ? never
          : undefined extends Objects[Field]
            ? never
            : Field extends keyof T
              ? never
              : `'${At<Path, Field>}' is missing`
      }[keyof Objects & string]

type IsUnion<T, Whole = T> = T extends unknown ? ([Whole] extends [T] ? false : true) : never

type NameOf<T> = T extends string
  ? string extends T
    ? 'a string'
    : `"${T}"`
  : T extends number
    ? 'a number'
    : T extends boolean
      ? 'a boolean'
      : T extends null
        ? 'null'
        : 'undefined'

type Wanted<Expected, Path extends string> = Path extends 'requeueAfter'
  ? 'a duration such as 5m'
  : string extends Expected
    ? 'a string'
    : [Extract<Expected, string>] extends [never]
      ? [Extract<Expected, number>] extends [never]
        ? [Extract<Expected, boolean>] extends [never]
          ? [Extract<Expected, readonly unknown[]>] extends [never]
            ? 'an object'
            : 'a list'
          : 'a boolean'
        : 'a number'
      : 'one of its values'
