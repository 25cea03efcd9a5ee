import type { AnyKind, Draft, GroupVersionKind, GroupVersionResource, Infer, Reads, TypeMeta } from '@kubewright/api'
import type {
  ApplyOptions,
  AttachOptions,
  CallOptions,
  DeleteCollectionOptions,
  DeleteOptions,
  ExecOptions,
  GetOptions,
  Key,
  ListAllOptions,
  LogOptions,
  PageOptions,
  PatchOptions,
  WatchOptions,
  WriteOptions,
} from './call-options.ts'
import type { DynamicKind } from './dynamic-kind.ts'
import type { ForwardedPort } from './exec/forwarded-port.ts'
import type { RemoteCommand } from './exec/remote-command.ts'
import type { PartialDraft, PatchBody } from './patch-body.ts'
import type { SubresourceClient } from './subresource-client.ts'
import type { WatchStream } from './watch/watch-stream.ts'

/** A part of a list. */
export interface Page<Read> {
  readonly items: readonly Read[]
  /** The version that the list shows: a watch goes on from here. The same on all pages. */
  readonly resourceVersion: string
  /** How many follow, when the server says so. */
  readonly remaining?: number
  /** Where the next page begins; absent on the last one. */
  readonly continue?: string
}

/** The reading half of a client. */
export interface Reader {
  /** The object; rejects with a NotFound ApiError when there is none. */
  get<K extends AnyKind>(kind: K, key: Key, options?: GetOptions): Promise<Infer<K>>
  /** The object, or undefined when there is none. A kind that the server does not serve is an error all the same. */
  find<K extends AnyKind>(kind: K, key: Key, options?: GetOptions): Promise<Infer<K> | undefined>
  /** All objects that the options select, ordered by namespace and name. */
  list<K extends AnyKind>(kind: K, options?: ListAllOptions<Infer<K>>): Promise<readonly Infer<K>[]>
}

/** What a write resolves to: what the draft's kind reads back as, or the type of the object when it was read before. */
export type Written<W> = W extends Reads<infer R> ? (unknown extends R ? W : R) : W

/**
 * Reads and writes objects by their Kind value. Failures of the server are `ApiError`s; a connection that fails is a
 * `ConnectionError`. Kinds that are only known at run time come from {@link kind} and {@link resource}; `metadataOnly` of a kind
 * reads metadata alone.
 */
export interface Client extends Reader {
  /** The list in pages, one request each. Rejects with an Expired ApiError when the list got too old on the way. */
  pages<K extends AnyKind>(kind: K, options?: PageOptions<Infer<K>>): AsyncIterable<Page<Infer<K>>>
  /** Opens a watch: resolves when the server has accepted it. Iterating ends when the server ends it, or throws its error. */
  watch<K extends AnyKind>(kind: K, options?: WatchOptions<Infer<K>>): Promise<WatchStream<Infer<K>>>
  create<W extends Readonly<TypeMeta>>(draft: W, options?: WriteOptions): Promise<Written<W>>
  /** Replaces an object; with a resourceVersion in it, only at that version, else a Conflict ApiError. */
  update<W extends Readonly<TypeMeta>>(object: W, options?: WriteOptions): Promise<Written<W>>
  /** A list of operations is a JSON patch, an object a JSON merge patch unless the options say `strategic`. */
  patch<K extends AnyKind>(kind: K, key: Key, patch: PatchBody<K>, options?: PatchOptions): Promise<Infer<K>>
  /** Server-side apply under the client's field manager: fields that it applied before and that are missing now are removed. */
  apply<W extends Readonly<TypeMeta>>(draft: W, options?: ApplyOptions): Promise<Written<W>>
  /** Server-side apply of some fields, whether or not the kind requires more. */
  apply<K extends AnyKind>(kind: K, partial: PartialDraft<Draft<K>>, options?: ApplyOptions): Promise<Infer<K>>
  /** Asks for an object's deletion. Resolves to the object when the server answers with it: finalizers may keep it for a while. */
  delete<K extends AnyKind>(kind: K, key: Key, options?: DeleteOptions): Promise<Infer<K> | undefined>
  /** Deletes all objects that the options select in one namespace. */
  deleteCollection<K extends AnyKind>(kind: K, options?: DeleteCollectionOptions<Infer<K>>): Promise<void>
  /** Reads and writes a subresource: `status`, `scale`, or any other by name. */
  subresource<K extends AnyKind, N extends string>(kind: K, name: N): SubresourceClient<K, N>
  /** The lines of a container's log. */
  logs(pod: Key, options?: LogOptions): AsyncIterable<string>
  /** Runs a program in a container. */
  exec(pod: Key, options: ExecOptions): Promise<RemoteCommand>
  /** Joins the program that a container runs. */
  attach(pod: Key, options?: AttachOptions): Promise<RemoteCommand>
  /** Opens a connection to a port of a pod. */
  portForward(pod: Key, port: number, options?: CallOptions): Promise<ForwardedPort>
  /** Finds a kind that the server serves, by discovery. Rejects with a `NoMatchError` when there is none. */
  kind(name: GroupVersionKind, options?: CallOptions): Promise<DynamicKind>
  /** Finds the kind of a resource that the server serves, by discovery. Rejects with a `NoMatchError` when there is none. */
  resource(name: GroupVersionResource, options?: CallOptions): Promise<DynamicKind>
}
