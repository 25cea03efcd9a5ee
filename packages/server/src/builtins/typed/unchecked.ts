/**
 * A kind's type before anything was checked: every field may be missing and every enumeration may hold any string. What a client sends
 * has this type; defaults and validation work on it.
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
