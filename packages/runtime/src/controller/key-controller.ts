import type { AnyKind } from '@kubewright/api'
import { type Duration, type Logger, toMillis } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import type { Cluster, Clusters } from '../cluster/cluster.ts'
import type { CountedCause } from '../queue/cause.ts'
import type { RateLimiterFactory } from '../queue/rate-limiter.ts'
import type { EventRecorder } from '../telemetry/events/event-recorder.ts'
import type { AccessRule } from './access-rule.ts'
import type { ControllerParts } from './controller-parts.ts'
import type { WatchObjects } from './dynamic-watches.ts'
import type { HotLoopOptions } from './hot-loop-detector.ts'
import type { KeyType } from './key-type.ts'
import { ownMembers } from './own-members.ts'
import type { Source } from './sources/source.ts'

/**
 * The context of a reconcile. Its members may be destructured and spread. Some are computed on first read, so that a
 * reconcile pays only for what it uses: prefer destructuring to a spread, which reads them all.
 */
export interface KeyContext {
  readonly client: Client
  /** The cluster that the controller runs on. Its `name` is `''` for the main one. */
  readonly cluster: Cluster
  /** All clusters of the manager by name, including the main one. */
  readonly clusters: Clusters
  /**
   * Watches further objects for this key and reads them: their changes reconcile the key. A watch lives as long as the
   * last successful reconcile of the key started it again; watches of the same objects are shared. The controller needs
   * the verbs `list` and `watch` in its `rbac`.
   */
  readonly watch: WatchObjects
  /**
   * Aborted when the reconcile times out, the manager's grace period ends, or the key may belong to another replica.
   */
  readonly signal: AbortSignal
  /** The current time of the manager's clock, as a new Date. Test environments with virtual time control it. */
  readonly now: () => Date
  /** A logger with the values controller, key and reconcileID. */
  readonly log: Logger
  readonly events: EventRecorder
  /** Why the key is reconciled, oldest cause first. */
  readonly causes: readonly CountedCause[]
  /** Unique to this reconcile. */
  readonly reconcileID: string
  /** Records what the reconcile waits for; undefined for nothing. Shown when it hangs. */
  readonly waitsFor: (what: string | undefined) => void
}

/** On which clusters of a manager a controller runs. */
export type ClusterChoice = 'all' | 'main' | 'others'

/** The result of a reconcile. To requeue with back-off, throw instead. */
export interface KeyOutcome {
  readonly requeueAfter?: Duration | undefined
  /** The priority of the requeue. @default the priority of the key */
  readonly priority?: number | undefined
}

/**
 * Reconciles a key. Never runs concurrently for the same key. An error decides what happens next:
 * - `TerminalError`: nothing, until the key is added again.
 * - `RetryLater`: a retry after its delay, not counted as a failure.
 * - `ReconcileError`: a failure as below, whatever its cause is.
 * - A conflict, or NotFound while the object is being deleted: a retry soon, without an error in the log. After 16 in a
 *   row it counts as a failure.
 * - Any other thrown value: logged, counted and retried with back-off, but not before the time that an API server
 *   requested. Values that are not Errors, and errors of the language (such as a TypeError without a cause), also count
 *   as panics.
 */
export type KeyReconciler<K = string> = (key: K, context: KeyContext) => KeyOutcome | void | Promise<KeyOutcome | void>

/** Options of {@link defineKeyController}. */
export interface KeyControllerOptions<K = string> {
  readonly name: string
  /** The kind that the controller is about, for metrics, logs and messages. */
  readonly kind?: AnyKind | undefined
  readonly sources: readonly Source[]
  /**
   * The type of the keys that `reconcile` receives. Sources add keys as texts: use its `format` in their mappings.
   * @default text
   */
  readonly keys?: KeyType<K> | undefined
  /** The maximum number of concurrent reconciles. @default 1 */
  readonly concurrency?: number | undefined
  /** @default per key, 5 ms doubling to 1000 s, with jitter */
  readonly rateLimiter?: RateLimiterFactory | undefined
  /**
   * How long a key waits for further adds before its reconcile: all adds within this time cause one reconcile.
   * @default none
   */
  readonly debounce?: Duration | undefined
  /**
   * The minimum time from the start of a reconcile to the start of the next one of the same key, whatever causes it.
   * @default none
   */
  readonly minInterval?: Duration | undefined
  /** `classic` has no priorities, and a plain add does not cancel a delayed one. @default 'priority' */
  readonly queue?: 'priority' | 'classic' | undefined
  /** The time after which a reconcile's signal aborts. @default none */
  readonly timeout?: Duration | undefined
  /** The time after which a running reconcile is reported as hanging, repeatedly. @default '1m' */
  readonly hangAfter?: Duration | undefined
  /** The threshold of hot loops; false disables the detection. @default 20 reconciles within a minute */
  readonly hotLoop?: HotLoopOptions | false | undefined
  /** The time limit for sources to sync; then the start fails. @default '2m' */
  readonly syncTimeout?: Duration | undefined
  /** Whether the controller runs only while this process leads. @default true */
  readonly needsLeader?: boolean | undefined
  /** On which clusters of the manager the controller runs: `others` are all but the main one. @default 'all' */
  readonly clusters?: ClusterChoice | undefined
  /** Permissions that `reconcile` needs for its use of `client`. Those for watches are derived from the sources. */
  readonly rbac?: readonly AccessRule[] | undefined
  reconcile: KeyReconciler<NoInfer<K>>
}

/** The definition of a key controller. Creating one registers and starts nothing. */
export interface KeyController {
  readonly name: string
  readonly kind: AnyKind | undefined
  readonly sources: readonly Source[]
  readonly concurrency: number
  readonly rateLimiter: RateLimiterFactory | undefined
  readonly debounce?: Duration | undefined
  readonly minInterval?: Duration | undefined
  readonly queue: 'priority' | 'classic'
  readonly timeout: Duration | undefined
  readonly hangAfter?: Duration | undefined
  readonly hotLoop?: HotLoopOptions | false | undefined
  readonly syncTimeout: Duration
  readonly needsLeader: boolean
  /** @default 'all' */
  readonly clusters?: ClusterChoice | undefined
  readonly rbac?: readonly AccessRule[] | undefined
  /** Creates the reconciler of one run. Called once per run, before the sources start. */
  readonly start: (parts: ControllerParts) => KeyReconciler
}

/** Defines a controller that receives keys instead of objects. Pure: a manager runs it. */
export function defineKeyController<K = string>(options: KeyControllerOptions<K>): KeyController {
  const { name, kind, sources, concurrency = 1, queue = 'priority', syncTimeout = '2m', needsLeader = true } = options
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new RangeError(
      `Cannot define controller "${name}" as 'concurrency' must be a positive integer: current value is ${concurrency}`,
    )
  }
  if (sources.length === 0) {
    throw new TypeError(
      `Cannot define controller "${name}" as it has no 'sources': add at least one, or it never receives a key`,
    )
  }
  for (const field of ['timeout', 'hangAfter', 'syncTimeout', 'debounce', 'minInterval'] as const) {
    const value = options[field]
    if (value !== undefined && !(toMillis(value) > 0)) {
      throw new RangeError(`Cannot define controller "${name}" as '${field}' must be greater than 0: ${value}`)
    }
  }
  return Object.freeze({
    name,
    kind,
    sources: Object.freeze([...sources]),
    concurrency,
    rateLimiter: options.rateLimiter,
    debounce: options.debounce,
    minInterval: options.minInterval,
    queue,
    timeout: options.timeout,
    hangAfter: options.hangAfter,
    hotLoop: options.hotLoop,
    syncTimeout,
    needsLeader,
    clusters: options.clusters,
    rbac: Object.freeze([...(options.rbac ?? [])]),
    start: () => reconcilerOf(options),
  })
}

const asContext = ownMembers<KeyContext>([
  'client',
  'cluster',
  'clusters',
  'watch',
  'signal',
  'now',
  'log',
  'events',
  'causes',
  'reconcileID',
  'waitsFor',
])

function reconcilerOf<K>(options: KeyControllerOptions<K>): KeyReconciler {
  const { keys } = options
  // Without `keys`, K is string.
  if (keys === undefined) return (key, context) => options.reconcile(key as never, asContext(context))
  return (key, context) => options.reconcile(keys.parse(key), asContext(context))
}
