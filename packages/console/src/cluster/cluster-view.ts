import type { FeedState } from '../wire/messages.ts'
import type { KindInfo, ResourceName } from '../wire/names.ts'

/** The kinds of a cluster. */
export interface Kinds {
  /** Empty until they are known. */
  readonly kinds: readonly KindInfo[]
  /** Why the kinds cannot be read, if they cannot. */
  readonly problem: string | undefined
  /** Calls the listener after each change. */
  listen(listener: () => void): Disposable
}

/** Receives a list and its changes. */
export interface ListSink {
  /** One page of a list. `isFirst` starts a new list, which replaces an earlier one when {@link listed} is called. */
  page(list: unknown, isFirst: boolean): void
  listed(): void
  /** A change. `object` is in the form that was asked for. */
  event(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: unknown): void
  state(state: FeedState, problem?: string): void
}

/** Options of {@link ClusterView.follow}. */
export interface FollowOptions {
  readonly signal: AbortSignal
  readonly resource: ResourceName
  /** Absent for the objects of all namespaces. */
  readonly namespace?: string | undefined
  readonly labelSelector?: string | undefined
  readonly fieldSelector?: string | undefined
  /**
   * The form of lists and changes. `table` has metadata in its rows, `table-with-objects` the whole objects.
   * @default object
   */
  readonly form?: 'object' | 'metadata' | 'table' | 'table-with-objects' | undefined
  /** Whether the resource can be watched; otherwise it is listed once. @default true */
  readonly canWatch?: boolean | undefined
  /** Ends a list or watch for good after an error for which it returns true. @default retries after every error */
  readonly isFinal?: ((error: unknown) => boolean) | undefined
  readonly sink: ListSink
}

/** The objects of a cluster: the live ones, or those at a moment of a recording. */
export interface ClusterView {
  readonly kinds: Kinds
  /** Sends a collection, then its changes, to the sink until the signal aborts. Failures become states. */
  follow(options: FollowOptions): void
}
