import type { AnyKind, Infer } from '@kubewright/api'
import type { DeleteCollectionOptions, DeleteOptions, Key, PageOptions, WriteOptions } from './call-options.ts'
import type { Client } from './client.ts'
import type { Discovery } from './discovery/discovery.ts'
import type { RestMapper } from './discovery/rest-mapper.ts'
import type { RestClient, RestClientOptions } from './rest/rest-client.ts'
import type { EncodedPage } from './watch/encoded-reader.ts'

/** Options of `createClient`. */
export interface ClientOptions extends RestClientOptions {
  /** The namespace of keys and drafts without one. @default 'default' */
  readonly namespace?: string | undefined
  /** The namespace of lists and watches without one. @default `namespace` */
  readonly listNamespace?: string | undefined
  /** The field manager of applies and, when given, of all writes. @default 'kubewright' for applies */
  readonly fieldManager?: string | undefined
  /** How the server treats unknown and duplicate fields in writes. @default the server's default, Warn */
  readonly fieldValidation?: WriteOptions['fieldValidation'] | undefined
  /** Makes all writes dry runs: the server does everything except persist them. @default false */
  readonly dryRun?: boolean | undefined
  /** Kinds of drafts that will be written. A kind listed here, or read before, needs no discovery request. */
  readonly kinds?: Iterable<AnyKind> | undefined
}

/** The response to a deletion. */
export interface Deletion<Read> {
  /** The object, when the server returned it. Finalizers may keep it for a while. */
  readonly object?: Read | undefined
  /** The uid of the deleted object, when the server returned it. */
  readonly uid?: string | undefined
}

/** The response to the deletion of a collection. */
export interface CollectionDeletion<Read> {
  /** The objects before their deletion. */
  readonly objects: readonly Read[]
  /** The version of the collection that had exactly these objects; empty when the server did not return it. */
  readonly resourceVersion: string
}

/** A client with access to its parts, for callers that need more than {@link Client}. */
export interface ApiClient extends Client, AsyncDisposable {
  /** The namespace of keys and drafts without one. */
  readonly namespace: string
  /** Whether all writes are dry runs. */
  readonly dryRun: boolean
  /** Like {@link Client.delete}, with the complete response. */
  requestDeletion<K extends AnyKind>(kind: K, key: Key, options?: DeleteOptions): Promise<Deletion<Infer<K>>>
  /** Like {@link Client.deleteCollection}, with the deleted objects when the server returned them. */
  requestCollectionDeletion<K extends AnyKind>(
    kind: K,
    options?: DeleteCollectionOptions<Infer<K>>,
  ): Promise<CollectionDeletion<Infer<K>> | undefined>
  /** One page of a list whose objects are parsed on access. For caches. */
  encodedPage<K extends AnyKind>(kind: K, options?: EncodedPageOptions): Promise<EncodedPage<Infer<K>>>
  readonly rest: RestClient
  readonly discovery: Discovery
  readonly mapper: RestMapper
}

/** Options of {@link ApiClient.encodedPage}: only what a server can select by. */
export type EncodedPageOptions = Omit<PageOptions, 'where'>
