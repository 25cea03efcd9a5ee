import type { AnyKind, Infer, TypeMeta } from '@kubewright/api'
import type { PathOf } from '@kubewright/schema'

/** Names an object: its name alone means the caller's namespace. */
export type Key = string | { readonly name: string; readonly namespace?: string }

/** What every call that waits accepts. */
export interface CallOptions {
  /** Ends the call early; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** Which objects a list returns. All conditions must hold. */
export interface ListOptions<Read = unknown> {
  /** @default the namespace of the caller; every namespace for an operator that watches all of them */
  readonly namespace?: string
  /** Labels that must be present with these values. */
  readonly labels?: Readonly<Record<string, string>>
  /** Fields of the spec that must have these values. The paths are checked by the compiler; undefined matches absence. */
  readonly where?: {
    readonly [P in PathOf<Pick<Read, 'spec' & keyof Read>>]?: string | number | boolean | undefined
  }
}

/** The reading half of a client. */
export interface Reader {
  /** The object; rejects with a NotFound ApiError when there is none. */
  get<K extends AnyKind>(kind: K, key: Key, options?: CallOptions): Promise<Infer<K>>
  /** The object, or undefined when there is none. */
  find<K extends AnyKind>(kind: K, key: Key, options?: CallOptions): Promise<Infer<K> | undefined>
  /** All objects that the options select, ordered by namespace and name. */
  list<K extends AnyKind>(kind: K, options?: ListOptions<Infer<K>> & CallOptions): Promise<readonly Infer<K>[]>
}

/** Reads and writes objects by their Kind value. */
export interface Client extends Reader {
  create<W extends TypeMeta>(draft: W, options?: CallOptions): Promise<void>
  /** Server-side apply under the client's field manager. */
  apply<W extends TypeMeta>(draft: W, options?: CallOptions & { readonly force?: boolean }): Promise<void>
  patch<K extends AnyKind>(kind: K, key: Key, patch: unknown, options?: CallOptions): Promise<Infer<K>>
  delete<K extends AnyKind>(kind: K, key: Key, options?: CallOptions): Promise<void>
}
