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

/** One page of a list. */
export interface Page<Read> {
  readonly items: readonly Read[]
  /** The version of the list, from which a watch can resume. The same on all pages. */
  readonly resourceVersion: string
  /** The number of remaining items, when the server returned it. */
  readonly remaining?: number | undefined
  /** The token for the next page; absent on the last page. */
  readonly continue?: string | undefined
}

/** The read operations of a client. */
export interface Reader {
  /** The object. Rejects with a NotFound ApiError when it does not exist. */
  get<K extends AnyKind>(kind: K, key: Key, options?: GetOptions): Promise<Infer<K>>
  /** The object, or undefined when it does not exist. Still rejects when the server does not serve the kind. */
  find<K extends AnyKind>(kind: K, key: Key, options?: GetOptions): Promise<Infer<K> | undefined>
  /** All objects that the options select, sorted by namespace and name. */
  list<K extends AnyKind>(kind: K, options?: ListAllOptions<Infer<K>>): Promise<readonly Infer<K>[]>
}

/**
 * The result type of a write: the read type of the draft's kind, or the type of the object itself when it was read
 * before.
 */
export type Written<W> = W extends Reads<infer R> ? (unknown extends R ? W : R) : W

/**
 * Reads and writes objects by their Kind. Errors of the server are `ApiError`s; connection failures are
 * `ConnectionError`s. Use {@link kind} and {@link resource} for kinds that are known only at run time, and
 * `metadataOnly(kind)` to read only metadata.
 */
export interface Client extends Reader {
  /**
   * The list in pages, with one request each. Rejects with an Expired ApiError when the list became too old during
   * pagination.
   */
  pages<K extends AnyKind>(kind: K, options?: PageOptions<Infer<K>>): AsyncIterable<Page<Infer<K>>>
  /**
   * Opens a watch. Resolves when the server accepted it. Iteration ends when the server ends the watch, and throws its
   * error, if any.
   */
  watch<K extends AnyKind>(kind: K, options?: WatchOptions<Infer<K>>): Promise<WatchStream<Infer<K>>>
  create<W extends Readonly<TypeMeta>>(draft: W, options?: WriteOptions): Promise<Written<W>>
  /**
   * Replaces an object. With a resourceVersion in it, fails with a Conflict ApiError unless that is the current
   * version.
   */
  update<W extends Readonly<TypeMeta>>(object: W, options?: WriteOptions): Promise<Written<W>>
  /**
   * Patches an object. A list of operations is a JSON patch, an object is a JSON merge patch unless the options specify
   * `strategic`.
   */
  patch<K extends AnyKind>(kind: K, key: Key, patch: PatchBody<K>, options?: PatchOptions): Promise<Infer<K>>
  /** Server-side apply with the client's field manager. Fields that it applied before and omits now are removed. */
  apply<W extends Readonly<TypeMeta>>(draft: W, options?: ApplyOptions): Promise<Written<W>>
  /** Server-side apply of a subset of fields, even if the kind requires more. */
  apply<K extends AnyKind>(kind: K, partial: PartialDraft<Draft<K>>, options?: ApplyOptions): Promise<Infer<K>>
  /**
   * Requests the deletion of an object. Resolves with the object when the server returns it; finalizers may keep it for
   * a while.
   */
  delete<K extends AnyKind>(kind: K, key: Key, options?: DeleteOptions): Promise<Infer<K> | undefined>
  /** Deletes all selected objects of one namespace. */
  deleteCollection<K extends AnyKind>(kind: K, options?: DeleteCollectionOptions<Infer<K>>): Promise<void>
  /** A client for a subresource: `status`, `scale`, or any other by name. */
  subresource<K extends AnyKind, N extends string>(kind: K, name: N): SubresourceClient<K, N>
  /** The lines of a container's log. */
  logs(pod: Key, options?: LogOptions): AsyncIterable<string>
  /** Runs a command in a container. */
  exec(pod: Key, options: ExecOptions): Promise<RemoteCommand>
  /** Attaches to the main process of a container. */
  attach(pod: Key, options?: AttachOptions): Promise<RemoteCommand>
  /** Opens a connection to a port of a pod. */
  portForward(pod: Key, port: number, options?: CallOptions): Promise<ForwardedPort>
  /** Finds a served kind by discovery. Rejects with a `NoMatchError` when there is none. */
  kind(name: GroupVersionKind, options?: CallOptions): Promise<DynamicKind>
  /** Finds the kind of a served resource by discovery. Rejects with a `NoMatchError` when there is none. */
  resource(name: GroupVersionResource, options?: CallOptions): Promise<DynamicKind>
}
