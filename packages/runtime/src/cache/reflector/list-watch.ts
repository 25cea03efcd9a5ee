import type { KubeObject } from '@kubewright/api'
import type { WaitOptions } from '@kubewright/base'
import type { Item } from '../store/item.ts'

/** What a reflector asks of one page of a list. */
export interface ListPageOptions extends WaitOptions {
  /** Not older than this; `0` means any version, the empty string the newest. */
  readonly resourceVersion: string
  /** The size of the page; without it the whole list is wanted. */
  readonly limit?: number
  /** Where the previous page ended. */
  readonly continue?: string
}

/** One page of a list. */
export interface ListPage<T> {
  readonly items: readonly T[]
  readonly resourceVersion: string
  /** Present when more pages follow. */
  readonly continue?: string
}

/** What a reflector asks of a watch. Bookmarks are always wanted. */
export interface WatchOptions extends WaitOptions {
  /** Changes after this version; the empty string means from now on. */
  readonly resourceVersion: string
  /** When the server should end the watch. */
  readonly timeoutSeconds: number
  /** Asks for the present state first, ended by a bookmark with `initialEventsEnd` (`resourceVersionMatch=NotOlderThan`). */
  readonly sendInitialEvents?: boolean
}

/** What a watch tells. */
export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | {
      readonly type: 'BOOKMARK'
      /** Everything up to this version has been sent. */
      readonly resourceVersion: string
      /** True on the one that follows the initial events. */
      readonly initialEventsEnd: boolean
    }

/**
 * Where a reflector gets its objects: one resource, in one namespace or all, perhaps narrowed by selectors. Both calls reject with
 * an ApiError when the server refused, and with any other error when it could not be reached. Objects may come as bytes, which a
 * store then holds as such.
 */
export interface ListWatch<T extends KubeObject> {
  list(options: ListPageOptions): Promise<ListPage<Item<T>>>
  /**
   * Opens a watch. The stream gives events in batches as they arrive, ends when the server ends it, throws the ApiError of an
   * ERROR event, and ends or throws when the signal aborts.
   */
  watch(options: WatchOptions): Promise<AsyncIterable<readonly WatchEvent<Item<T>>[]>>
}
