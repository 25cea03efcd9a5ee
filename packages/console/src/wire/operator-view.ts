/** A reason for a reconcile. */
export interface CauseView {
  readonly event: string
  readonly kind?: string | undefined
  readonly object?: string | undefined
  readonly paths?: readonly string[] | undefined
  readonly by?: readonly string[] | undefined
  readonly count: number
}

/** One finished reconcile. */
export interface ReconcileView {
  readonly controller: string
  readonly key: string
  readonly id: string
  /** RFC 3339. */
  readonly startedAt: string
  readonly durationMillis: number
  /** As in `ReconcileRecord`: success, requeue_after, conflict, error or terminal_error. */
  readonly result: string
  readonly causes: readonly CauseView[]
  readonly error?: string | undefined
  /** The frames of the error, one per line, in the sources if the operator has source maps. */
  readonly stack?: string | undefined
  readonly requeueAfterMillis?: number | undefined
  /** The requests that the reconcile sent; absent if they were not recorded. */
  readonly requests?: readonly RequestView[] | undefined
  /** The first lines of its log; absent if there are none or they were not recorded. */
  readonly log?: readonly LineView[] | undefined
}

/** A line of the log of a reconcile. */
export interface LineView {
  /** RFC 3339. */
  readonly time: string
  readonly level: string
  readonly message: string
  /** The values as JSON; empty if there are none. */
  readonly values: string
  readonly error?: string | undefined
}

/** A request that a reconcile sent to the API server. */
export interface RequestView {
  readonly method: string
  readonly path: string
  /** RFC 3339. */
  readonly startedAt: string
  readonly durationMillis: number
  readonly error?: string | undefined
}

/** A call of a webhook of the operator. */
export interface CallView {
  readonly path: string
  /** RFC 3339. */
  readonly startedAt: string
  readonly durationMillis: number
  /** Whether an admission webhook allowed the request. */
  readonly allowed?: boolean | undefined
  readonly message?: string | undefined
  readonly error?: string | undefined
}

/** A key in a work queue. */
export interface QueuedKeyView {
  readonly key: string
  readonly state: 'ready' | 'waiting' | 'processing'
  /** Milliseconds: how long the key has been in that state, for `waiting` the remaining delay. */
  readonly time: number
  readonly causes: readonly CauseView[]
}

/** A controller and its queue. */
export interface ControllerView {
  readonly name: string
  readonly kind: string
  readonly ready: number
  readonly waiting: number
  readonly processing: number
  readonly keys: readonly QueuedKeyView[]
  readonly isPaused: boolean
  readonly problems: readonly string[]
}

/** A store of objects in the operator's cache. */
export interface CacheView {
  readonly kind: string
  readonly objects: number | null
}

/** The state of an operator at one moment. */
export interface OperatorView {
  /** The position among the operators of the console. Levers name an operator by it. */
  readonly index: number
  readonly name: string
  /** Why there is no report, if there is none. */
  readonly problem?: string | undefined
  readonly controllers: readonly ControllerView[]
  readonly caches: readonly CacheView[]
  /** Newest first. */
  readonly reconciles: readonly ReconcileView[]
  /** The last calls of its webhooks, newest first. */
  readonly calls: readonly CallView[]
  /** Permissions that the operator lacks. */
  readonly missingAccess: readonly string[]
}
