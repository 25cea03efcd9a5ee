import type { LabelSelectorLike, Selector } from '@kubewright/api'
import type { Duration } from '@kubewright/base'
import type { PathOf } from '@kubewright/schema'

/** Names an object: its name alone means the caller's namespace; a text may also be `namespace/name`. */
export type Key = string | { readonly name: string; readonly namespace?: string | undefined }

/** As `namespace` of a list, watch or deletion: in every namespace. */
export const allNamespaces = ''

/** What every call that waits accepts. */
export interface CallOptions {
  /** Ends the call early; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** How long the whole call may take, retries included; for a stream, until it starts. @default that of the client */
  readonly timeout?: Duration | undefined
  /** Asked right before each attempt is sent, retries included. When it throws, nothing is sent and the call rejects with that. */
  readonly beforeSend?: (() => void) | undefined
}

/**
 * How fresh a read must be, for clients that keep a cache. A client without one always asks the server.
 *
 * - `own-writes`: from the cache where the kind is cached, with every write that this client has finished already visible.
 * - `cached`: what the cache has, which may be older than the client's own writes.
 * - `live`: what the server has.
 *
 * Kinds that are not cached are read from the server in each case.
 */
export type Consistency = 'own-writes' | 'cached' | 'live'

/** Options of a read of one object. */
export interface GetOptions extends CallOptions {
  /** @default 'own-writes' for clients with a cache, else the server is asked */
  readonly consistency?: Consistency | undefined
  /** `0` takes any version that the server has at hand; another one takes it or a newer one. @default the newest */
  readonly resourceVersion?: string | undefined
}

/** Which objects a list returns. All conditions must hold. */
export interface ListOptions<Read = unknown> {
  /** {@link allNamespaces} for all. @default the namespace of the caller; every namespace for an operator that watches all of them */
  readonly namespace?: string | undefined
  /** Labels that must be present with these values. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** A label selector: `app in (a, b), !legacy`, or the form that objects carry. */
  readonly selector?: string | LabelSelectorLike | Selector | undefined
  /**
   * Fields of the spec that must have these values. The paths are checked by the compiler; undefined matches absence. Lists look at
   * fields that the server cannot select by after it has answered; watches and deletions cannot, and are refused by the server.
   */
  readonly where?: {
    readonly [P in PathOf<Pick<Read, 'spec' & keyof Read>>]?: string | number | boolean | undefined
  }
  /** Other fields that the server can select by, such as `metadata.name` and `status.phase`. */
  readonly fields?: Readonly<Record<string, string>> | undefined
  /** Further conditions in the syntax of `fieldSelector=`, which can also exclude values. */
  readonly fieldSelector?: string | undefined
  /** Only for lists. @default 'own-writes' for clients with a cache, else the server is asked */
  readonly consistency?: Consistency | undefined
  /** Which version of the collection. @default the newest */
  readonly resourceVersion?: string | undefined
  /** How `resourceVersion` is meant. */
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined
}

/** Options of a list that is read as a whole. */
export interface ListAllOptions<Read = unknown> extends ListOptions<Read>, CallOptions {
  /** Only objects whose controller is this very object. Servers cannot select by that, so it is looked at in their answer. */
  readonly controlledBy?: { readonly metadata: { readonly uid: string } } | undefined
}

/** Options of a list in pages. */
export interface PageOptions<Read = unknown> extends ListOptions<Read>, CallOptions {
  /** The most items of one page; 0 means all in one. @default 500 */
  readonly pageSize?: number | undefined
  /** Where an earlier page said that the next one begins; its version counts, not that of the options. @default the first page */
  readonly continue?: string | undefined
}

/** Options of a watch. */
export interface WatchOptions<Read = unknown> extends ListOptions<Read>, CallOptions {
  /** Has the server send the objects that there are first, and a bookmark that says so when it is done. @default false */
  readonly sendInitialEvents?: boolean | undefined
  /** Has the server tell the current version from time to time. @default true */
  readonly bookmarks?: boolean | undefined
  /** After how many seconds the server ends the watch. @default the server's choice */
  readonly timeoutSeconds?: number | undefined
}

/** Options of every write. */
export interface WriteOptions extends CallOptions {
  /** Has the server do everything but the write. @default false */
  readonly dryRun?: boolean | undefined
  /** Who is recorded as the owner of the fields. @default that of the client */
  readonly fieldManager?: string | undefined
  /** What becomes of unknown and repeated fields. @default that of the client, else the server's: Warn */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict' | undefined
}

/** Options of a patch. */
export interface PatchOptions extends WriteOptions {
  /** @default 'json' for a list, else 'merge' */
  readonly type?: 'merge' | 'json' | 'strategic' | undefined
}

/** Options of a server-side apply. */
export interface ApplyOptions extends WriteOptions {
  /** Takes over fields that others own instead of a Conflict. @default false */
  readonly force?: boolean | undefined
}

/** Options of a deletion. */
export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean | undefined
  /** What becomes of the objects that it owns. @default the server's choice, mostly Background */
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground' | undefined
  readonly gracePeriodSeconds?: number | undefined
  /** Fails with a Conflict unless the object is this one. */
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string } | undefined
}

/** Options of the deletion of many objects. */
export interface DeleteCollectionOptions<Read = unknown>
  extends Omit<DeleteOptions, 'preconditions'>,
    ListOptions<Read> {}

/** Which part of a log. */
export interface LogOptions extends CallOptions {
  /** @default the only container, or the one that the pod names as its default */
  readonly container?: string | undefined
  /** Goes on with what is written from now on. @default false */
  readonly follow?: boolean | undefined
  /** Of the instance before the last restart. @default false */
  readonly previous?: boolean | undefined
  readonly sinceSeconds?: number | undefined
  /** RFC 3339. */
  readonly sinceTime?: string | undefined
  /** Starts each line with its time. @default false */
  readonly timestamps?: boolean | undefined
  readonly tailLines?: number | undefined
  readonly limitBytes?: number | undefined
}

/** How to join a container: with which of its streams. */
export interface AttachOptions extends CallOptions {
  /** @default the only container, or the one that the pod names as its default */
  readonly container?: string | undefined
  /** Whether there will be input. @default false */
  readonly stdin?: boolean | undefined
  /** Whether it is a terminal: both outputs then come as one. @default false */
  readonly tty?: boolean | undefined
}

/** A program to run in a container. */
export interface ExecOptions extends AttachOptions {
  /** The program and its arguments; no shell is involved. */
  readonly command: readonly string[]
}
