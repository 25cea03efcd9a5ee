import type { AnyKind, Draft, JsonPatchOperation } from '@kubewright/api'
import type { PatchOptions } from './call-options.ts'

/** A JSON merge patch for a `T`: any subset of its fields, where null removes a field. Lists are replaced as a whole. */
export type MergePatch<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [P in keyof T]?: MergePatch<T[P]> | null }
    : T

/** The argument of `patch`: a merge patch, a list of JSON patch operations, or text that is sent unchanged. */
export type PatchBody<K extends AnyKind> = MergePatch<Draft<K>> | readonly JsonPatchOperation[] | string

/** The argument of a server-side apply of some fields: any part of a draft plus the name of the object. */
export type PartialDraft<W> = DeepPartial<Omit<W, 'metadata'>> & {
  readonly metadata: DeepPartial<W extends { metadata: infer M } ? M : object> & { readonly name: string }
}

type DeepPartial<T> = T extends readonly (infer E)[]
  ? readonly DeepPartial<E>[]
  : T extends object
    ? { readonly [P in keyof T]?: DeepPartial<T[P]> }
    : T

const patchTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

/** Encodes the argument of `patch` and determines its content type. */
export function patchBody(patch: object | string, { type }: PatchOptions): { body: string; contentType: string } {
  const text = typeof patch === 'string' ? patch : JSON.stringify(patch)
  const isList = typeof patch === 'string' ? /^\s*\[/.test(patch) : Array.isArray(patch)
  return { body: text, contentType: patchTypes[type ?? (isList ? 'json' : 'merge')] }
}
