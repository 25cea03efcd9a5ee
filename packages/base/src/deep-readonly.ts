type Unchanged = string | number | boolean | bigint | symbol | null | undefined | ((...args: never[]) => unknown)

/**
 * `T` with every property and element read-only, at every depth. Arrays stay arrays, tuples stay tuples; what has no parts, such as
 * a branded string or a function, stays as it is.
 */
export type DeepReadonly<T> = T extends Unchanged
  ? T
  : T extends readonly (infer E)[]
    ? // Arrays have a length of any number. Mapping them, instead, would not end for recursive types.
      number extends T['length']
      ? readonly DeepReadonly<E>[]
      : { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T extends object
      ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
      : T

/** `T` without any `readonly`, at every depth: what the recipe of `produce` gets. */
export type DeepMutable<T> = T extends Unchanged
  ? T
  : T extends readonly (infer E)[]
    ? number extends T['length']
      ? DeepMutable<E>[]
      : { -readonly [K in keyof T]: DeepMutable<T[K]> }
    : T extends object
      ? { -readonly [K in keyof T]: DeepMutable<T[K]> }
      : T
