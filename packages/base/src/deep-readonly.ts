type Unchanged = string | number | boolean | bigint | symbol | null | undefined | ((...args: never[]) => unknown)

/**
 * `T` with every property and element read-only, at every depth. Arrays stay arrays and tuples stay tuples. Types
 * without parts, such as branded strings and functions, stay unchanged.
 */
export type DeepReadonly<T> = T extends Unchanged
  ? T
  : T extends readonly (infer E)[]
    ? // The length of an array (not a tuple) is `number`. Mapping over arrays would not terminate for recursive types.
      number extends T['length']
      ? readonly DeepReadonly<E>[]
      : { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T extends object
      ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
      : T

/** `T` without any `readonly`, at every depth: the type of a copy that `deepCopy` returns. */
export type DeepMutable<T> = T extends Unchanged
  ? T
  : T extends readonly (infer E)[]
    ? number extends T['length']
      ? DeepMutable<E>[]
      : { -readonly [K in keyof T]: DeepMutable<T[K]> }
    : T extends object
      ? { -readonly [K in keyof T]: DeepMutable<T[K]> }
      : T
