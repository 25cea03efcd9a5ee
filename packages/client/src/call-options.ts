import type { LabelSelectorLike, Selector } from '@kubewright/api'
import type { Duration } from '@kubewright/base'
import type { PathOf } from '@kubewright/schema'
import type { IndexQuery } from './object-index.ts'

/** Identifies an object: a name in the caller's namespace, `namespace/name`, or both as fields. */
export type Key = string | { readonly name: string; readonly namespace?: string | undefined }

/** As `namespace` of a list, watch or deletion: all namespaces. */
export const allNamespaces = ''

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call. The promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /**
   * The maximum duration of the whole call, including retries; for a stream, until it starts. @default that of the
   * client
   */
  readonly timeout?: Duration | undefined
  /**
   * Called right before each attempt is sent, including retries. When it throws, nothing is sent and the call rejects
   * with that error.
   */
  readonly beforeSend?: (() => void) | undefined
}

/**
 * The required freshness of a read, for clients with a cache. A client without a cache always reads from the server.
 *
 * - `own-writes`: the cached state, after waiting until it includes every write that this client completed.
 * - `cached`: the cached state, which may be older than the client's own writes.
 * - `live`: the state of the server.
 *
 * Kinds that are not cached are always read from the server.
 */
export type Consistency = 'own-writes' | 'cached' | 'live'

/** Options of a read of one object. */
export interface GetOptions extends CallOptions {
  /** @default 'own-writes' for clients with a cache */
  readonly consistency?: Consistency | undefined
  /**
   * `0` accepts any version that the server has cached; another value accepts that version or a newer one. @default the
   * newest
   */
  readonly resourceVersion?: string | undefined
}

/** Selects the objects of a list. All conditions must hold. */
export interface ListOptions<Read = unknown> {
  /**
   * {@link allNamespaces} for all. @default the namespace of the client; all namespaces for an operator that watches
   * all of them
   */
  readonly namespace?: string | undefined
  /** Labels that objects must have, with these values. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  /** A label selector: text such as `app in (a, b), !legacy`, or a LabelSelector of an object. */
  readonly selector?: string | LabelSelectorLike | Selector | undefined
  /**
   * Required values of spec fields. Paths are type-checked; undefined requires absence. If the server
   * does not support a field in selectors, the client filters the response of a list itself. Watches and collection deletions
   * send the selector unchanged, and the server rejects it.
   */
  readonly where?:
    | {
        readonly [P in PathOf<Pick<Read, 'spec' & keyof Read>>]?: string | number | boolean | undefined
      }
    | undefined
  /** Other fields that the server can select by, such as `metadata.name` and `status.phase`. */
  readonly fields?: Readonly<Record<string, string>> | undefined
  /** Additional conditions in `fieldSelector=` syntax, which can also exclude values. */
  readonly fieldSelector?: string | undefined
  /** Applies only to lists. @default 'own-writes' for clients with a cache */
  readonly consistency?: Consistency | undefined
  /** The version of the collection to read. @default the newest */
  readonly resourceVersion?: string | undefined
  /** The interpretation of `resourceVersion`. */
  readonly resourceVersionMatch?: 'Exact' | 'NotOlderThan' | undefined
}

/** Options of a complete list. */
export interface ListAllOptions<Read = unknown> extends ListOptions<Read>, CallOptions {
  /** Only objects whose controller is this object. Servers cannot select by that, so the client filters the response. */
  readonly controlledBy?: { readonly metadata: { readonly uid: string } } | undefined
  /** Only objects with a value in an {@link index}. Without a cache, the client filters the response. */
  readonly index?: IndexQuery<Read> | undefined
}

/** Options of a paginated list. */
export interface PageOptions<Read = unknown> extends ListOptions<Read>, CallOptions {
  /** The maximum number of items per page; 0 for all in one page. @default 500 */
  readonly pageSize?: number | undefined
  /** The `continue` token of an earlier page, which also determines the version. @default the first page */
  readonly continue?: string | undefined
}

/** Options of a watch. */
export interface WatchOptions<Read = unknown> extends ListOptions<Read>, CallOptions {
  /** Requests the existing objects first, followed by a bookmark with `initialEventsEnd`. @default false */
  readonly sendInitialEvents?: boolean | undefined
  /** Requests bookmarks, which report the current version periodically. @default true */
  readonly bookmarks?: boolean | undefined
  /** The number of seconds after which the server ends the watch. @default the server's default */
  readonly timeoutSeconds?: number | undefined
}

/** Options of every write. */
export interface WriteOptions extends CallOptions {
  /** Makes the write a dry run: the server does everything except persist it. @default false */
  readonly dryRun?: boolean | undefined
  /** The field manager that owns the written fields. @default that of the client */
  readonly fieldManager?: string | undefined
  /** How the server treats unknown and duplicate fields. @default that of the client, else the server's default, Warn */
  readonly fieldValidation?: 'Ignore' | 'Warn' | 'Strict' | undefined
}

/** Options of a patch. */
export interface PatchOptions extends WriteOptions {
  /** @default 'json' for a list, else 'merge' */
  readonly type?: 'merge' | 'json' | 'strategic' | undefined
}

/** Options of a server-side apply. */
export interface ApplyOptions extends WriteOptions {
  /** Takes over fields of other managers instead of failing with a Conflict. @default false */
  readonly force?: boolean | undefined
}

/** Options of a deletion. */
export interface DeleteOptions extends CallOptions {
  readonly dryRun?: boolean | undefined
  /** How dependents are deleted. @default the server's default, mostly Background */
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground' | undefined
  readonly gracePeriodSeconds?: number | undefined
  /** The deletion fails with a Conflict unless the object matches. */
  readonly preconditions?:
    | { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined }
    | undefined
}

/** Options of the deletion of a collection. */
export interface DeleteCollectionOptions<Read = unknown>
  extends Omit<DeleteOptions, 'preconditions'>,
    ListOptions<Read> {}

/** Selects a part of a container's log. */
export interface LogOptions extends CallOptions {
  /** @default the only container, or the default container of the pod */
  readonly container?: string | undefined
  /** Continues with new output. @default false */
  readonly follow?: boolean | undefined
  /** Reads the log of the previous instance of the container. @default false */
  readonly previous?: boolean | undefined
  readonly sinceSeconds?: number | undefined
  /** RFC 3339. */
  readonly sinceTime?: string | undefined
  /** Prefixes each line with its timestamp. @default false */
  readonly timestamps?: boolean | undefined
  readonly tailLines?: number | undefined
  readonly limitBytes?: number | undefined
}

/** Options of attaching to a container. */
export interface AttachOptions extends CallOptions {
  /** @default the only container, or the default container of the pod */
  readonly container?: string | undefined
  /** Whether to open standard input. @default false */
  readonly stdin?: boolean | undefined
  /** Whether to allocate a terminal, which merges both outputs into one. @default false */
  readonly tty?: boolean | undefined
}

/** A command to run in a container. */
export interface ExecOptions extends AttachOptions {
  /** The program and its arguments. No shell is involved. */
  readonly command: readonly string[]
}
