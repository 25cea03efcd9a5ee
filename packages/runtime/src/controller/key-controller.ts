import type { AnyKind } from '@kubewright/api'
import { type Duration, type Logger, toMillis } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import type { CountedCause } from '../queue/cause.ts'
import type { RateLimiter } from '../queue/rate-limiter.ts'
import type { EventRecorder } from '../telemetry/events/event-recorder.ts'
import type { AccessRule } from './access-rule.ts'
import type { ControllerParts } from './controller-parts.ts'
import type { HotLoopOptions } from './hot-loop-detector.ts'
import type { Source } from './sources/source.ts'

/**
 * What a reconcile of a key is given. Its members may be taken out of it, but a spread (`{ ...context }`) does not copy them: most are
 * made when they are first read, so that a reconcile pays for what it uses.
 */
export interface KeyContext {
  readonly client: Client
  /** Aborted when the manager's patience with running reconciles ends, or the reconcile runs out of time. */
  readonly signal: AbortSignal
  /** The time by the manager's clock, a new Date for each call: a test environment with virtual time moves it. */
  readonly now: () => Date
  /** Carries controller, key and reconcileID. */
  readonly log: Logger
  readonly events: EventRecorder
  /** Why the key is being looked at, oldest cause first. */
  readonly causes: readonly CountedCause[]
  /** Unique to this reconcile. */
  readonly reconcileID: string
  /** Says what the reconcile is waiting for, undefined for nothing: shown when it hangs. */
  readonly waitsFor: (what: string | undefined) => void
}

/** The intent that a reconcile of a key returns. Throwing means back-off instead. */
export interface KeyOutcome {
  readonly requeueAfter?: Duration | undefined
  /** The priority of the requeue. @default that of the key */
  readonly priority?: number | undefined
}

/**
 * Brings the world closer to what a key asks for. Never runs twice at once for one key. What it throws decides what comes next:
 * - `TerminalError`: nothing, until something about the key changes.
 * - `RetryLater`: another look after its time, not counted as a failure.
 * - A conflict, or something missing while the object goes away: another look soon, without noise; as a failure after 16 in a row.
 * - Anything else, also what is not an Error: logged, counted and repeated with back-off, not before the time that an API server
 *   asked for. What is not an Error, and errors of the language (TypeError and the like, without a cause), count as panics too.
 */
export type KeyReconciler = (key: string, context: KeyContext) => KeyOutcome | void | Promise<KeyOutcome | void>

/** What {@link defineKeyController} takes. */
export interface KeyControllerOptions {
  readonly name: string
  /** The kind that it is about, for metrics, logs and messages. */
  readonly kind?: AnyKind
  readonly sources: readonly Source[]
  /** How many keys are reconciled at once. @default 1 */
  readonly concurrency?: number
  /** @default per key, 5 ms doubling to 1000 s, with jitter */
  readonly rateLimiter?: () => RateLimiter<string>
  /** `classic` has no priorities and keeps delayed and plain adds apart. @default 'priority' */
  readonly queue?: 'priority' | 'classic'
  /** Aborts a reconcile's signal after this long. @default none */
  readonly reconcileTimeout?: Duration
  /** After how long a running reconcile is reported as hanging, again and again. @default '1m' */
  readonly hangAfter?: Duration
  /** When a key counts as being reconciled in circles; false means never. @default 20 times within a minute */
  readonly hotLoop?: HotLoopOptions | false
  /** How long sources may take to sync before the start fails. @default '2m' */
  readonly syncTimeout?: Duration
  /** Whether it waits until this process leads. @default true */
  readonly needsLeader?: boolean
  /** Rights that `reconcile` needs for what it does with `client`; those to watch follow from the sources. */
  readonly rbac?: readonly AccessRule[]
  reconcile: KeyReconciler
}

/** A controller of keys as an inspectable value: nothing is registered or started by making one. */
export interface KeyController {
  readonly name: string
  readonly kind: AnyKind | undefined
  readonly sources: readonly Source[]
  readonly concurrency: number
  readonly rateLimiter: (() => RateLimiter<string>) | undefined
  readonly queue: 'priority' | 'classic'
  readonly reconcileTimeout: Duration | undefined
  readonly hangAfter?: Duration | undefined
  readonly hotLoop?: HotLoopOptions | false | undefined
  readonly syncTimeout: Duration
  readonly needsLeader: boolean
  readonly rbac?: readonly AccessRule[] | undefined
  /** Makes the reconciler of one run: called once for each, before its sources start. */
  readonly start: (parts: ControllerParts) => KeyReconciler
}

/** Describes a controller that is given keys instead of objects. Pure: the value is run by a manager. */
export function defineKeyController(options: KeyControllerOptions): KeyController {
  const { name, kind, sources, concurrency = 1, queue = 'priority', syncTimeout = '2m', needsLeader = true } = options
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new RangeError(
      `Cannot define controller "${name}" as 'concurrency' must be a positive integer: current value is ${concurrency}`,
    )
  }
  if (sources.length === 0) {
    throw new TypeError(`Cannot define controller "${name}" as it has no 'sources': it would never be given a key`)
  }
  for (const field of ['reconcileTimeout', 'hangAfter', 'syncTimeout'] as const) {
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
    queue,
    reconcileTimeout: options.reconcileTimeout,
    hangAfter: options.hangAfter,
    hotLoop: options.hotLoop,
    syncTimeout,
    needsLeader,
    rbac: Object.freeze([...(options.rbac ?? [])]),
    start: () => options.reconcile.bind(options),
  })
}
