import type { AnyKind, Draft, JsonPatchOperation } from '@kubewright/api'

/** A JSON merge patch of a `T`: any part of it, where null removes a field. Lists are replaced as a whole. */
export type MergePatch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [P in keyof T]?: MergePatch<T[P]> | null }
    : T

/** What `patch` takes: a merge patch, a list of JSON patch operations, or text that is sent as it is. */
export type PatchBody<K extends AnyKind> = MergePatch<Draft<K>> | readonly JsonPatchOperation[] | string

/** Any part of a draft, with the name that says which object is meant: what a server-side apply of some fields takes. */
export type PartialDraft<W> = DeepPartial<Omit<W, 'metadata'>> & {
  readonly metadata: DeepPartial<W extends { metadata: infer M } ? M : object> & { readonly name: string }
}

type DeepPartial<T> = T extends readonly (infer E)[]
  ? readonly DeepPartial<E>[]
  : T extends object
    ? { readonly [P in keyof T]?: DeepPartial<T[P]> }
    : T
