/**
 * The type of a decoded object before validation: every field may be missing, and every enumeration may be any string. Defaulting and
 * validation work on this type.
 */
export type Unchecked<T> = T extends string
  ? string
  : T extends number
    ? number
    : T extends boolean
      ? boolean
      : T extends readonly (infer E)[]
        ? Unchecked<E>[]
        : T extends object
          ? { -readonly [K in keyof T]?: Unchecked<T[K]> | undefined }
          : T
