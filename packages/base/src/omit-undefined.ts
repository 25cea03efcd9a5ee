/** The type without `undefined`: every member is there and has a value. */
export type Defined<T> = { [K in keyof T]-?: Exclude<T[K], undefined> }

/** Copies an object without undefined members. A member that is left out is one that `R` makes optional. */
export function omitUndefined<R extends object>(value: { readonly [K in keyof R]: R[K] | undefined }): R {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as R
}
