type Shallower = [never, 0, 1, 2, 3, 4]

/**
 * The dotted paths of the fields of `T`, such as `'spec' | 'spec.domain'`, up to five levels deep. A path ends at a
 * list, because elements have no fixed name. Keys of a map are any string.
 */
export type PathOf<T, Depth extends number = 4> = [Depth] extends [never]
  ? never
  : T extends readonly unknown[]
    ? never
    : T extends object
      ? { [K in keyof T & string]-?: K | `${K}.${PathOf<NonNullable<T[K]>, Shallower[Depth]>}` }[keyof T & string]
      : never
