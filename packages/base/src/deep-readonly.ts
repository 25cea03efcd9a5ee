type Primitive = string | number | boolean | bigint | symbol | null | undefined

/** `T` with every property and element read-only, at every depth. Arrays stay arrays, tuples stay tuples. */
export type DeepReadonly<T> = T extends Primitive | ((...args: never[]) => unknown)
  ? T
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T

/** `T` without any `readonly`, at every depth: what the recipe of `produce` gets. */
export type DeepMutable<T> = T extends Primitive | ((...args: never[]) => unknown)
  ? T
  : T extends object
    ? { -readonly [K in keyof T]: DeepMutable<T[K]> }
    : T
