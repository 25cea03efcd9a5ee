import type { KubeObject } from '@kubewright/api'
import type { WaitOptions } from '@kubewright/base'
import type { Item } from '../store/item.ts'

/** Options of one page of a list. */
export interface ListPageOptions extends WaitOptions {
  /** The minimum version; `0` means any version, the empty string the newest. */
  readonly resourceVersion: string
  /** The page size; without it the response is the whole list. */
  readonly limit?: number | undefined
  /** The continue token of the previous page. */
  readonly continue?: string | undefined
}

/** One page of a list. */
export interface ListPage<T> {
  readonly items: readonly T[]
  readonly resourceVersion: string
  /** Present when more pages follow. */
  readonly continue?: string | undefined
}

/** Options of a watch. Bookmarks are always requested. */
export interface WatchOptions extends WaitOptions {
  /** The watch starts after this version; the empty string means now. */
  readonly resourceVersion: string
  /** When the server ends the watch. */
  readonly timeoutSeconds: number
  /**
   * Requests the current state first, ended by a bookmark with `initialEventsEnd`
   * (`resourceVersionMatch=NotOlderThan`).
   */
  readonly sendInitialEvents?: boolean | undefined
}

/** An event of a watch. */
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | {
      readonly type: 'BOOKMARK'
      /** All changes up to this version have been sent. */
      readonly resourceVersion: string
      /** True on the bookmark that follows the initial events. */
      readonly initialEventsEnd: boolean
    }

/** States that a resource has no objects. */
export interface Absence {
  /** There were no objects at this version. A watch can start after it. */
  readonly resourceVersion: string
  /** Resolves when objects may exist, or when the signal aborts. Never rejects. */
  readonly ended: Promise<void>
}

/**
 * The source of a reflector: one resource, in one or all namespaces, optionally restricted by selectors. Both calls
 * reject with an ApiError when the server rejects the request, and with another error when the server is unreachable.
 * Objects may be encoded; a store then holds their bytes.
 */
export interface ListWatch<T extends KubeObject> {
  list(options: ListPageOptions): Promise<ListPage<Item<T>>>
  /**
   * Opens a watch. The stream yields events in batches as they arrive, ends when the server ends it, throws the
   * ApiError of an ERROR event, and ends or throws when the signal aborts.
   */
  watch(options: WatchOptions): Promise<AsyncIterable<readonly WatchEvent<Item<T>>[]>>
  /**
   * Tells without a request that the resource has no objects; undefined if it may have some. The reflector then opens its
   * watch with the first object. @default the reflector always opens a watch
   */
  absence?(signal: AbortSignal): Absence | undefined
}
