import type { AnyKind, Infer, Kind, Reads, TypeMeta } from '@kubewright/api'
import type { Duration, Logger } from '@kubewright/base'
import type { Client, Key } from '@kubewright/client'

/** What a reconciler is given besides the object: closures, safe to destructure. */
export interface Context {
  readonly client: Client
  /** Aborted when the manager stops or the reconcile runs out of time. */
  readonly signal: AbortSignal
  readonly log: Logger
  /** Records an Event about the object. */
  readonly event: (type: 'Normal' | 'Warning', reason: string, message: string) => void
  /** Server-side applies a child: sets owner, field manager and namespace; resolves to the live object. */
  readonly apply: <R>(child: TypeMeta & Reads<R>) => Promise<R>
}

/** The intent that a reconcile returns. Throwing means back-off instead. */
export interface Outcome<Status> {
  /** Written to the status subresource when it differs from what is there. */
  status?: Status
  /** Look again after this long, even if nothing changes. */
  requeueAfter?: Duration
}

type Awaitable<T> = T | Promise<T>

/** Changes of another kind that matter to a controller, and whom they concern. */
export interface Watch {
  readonly kind: AnyKind
  readonly toOwners: (object: never) => Iterable<Key>
}

/** Watches a kind and maps each of its objects to the keys that must be reconciled. */
export function watch<K extends AnyKind>(kind: K, toOwners: (object: Infer<K>) => Iterable<Key>): Watch {
  return Object.freeze({ kind, toOwners: toOwners as Watch['toOwners'] })
}

/** What {@link defineController} takes. */
export interface ControllerOptions<Read, Status> {
  /** Kinds whose objects this controller creates; a change of one reconciles its owner. */
  readonly owns?: readonly AnyKind[]
  /** Further kinds to watch, each with a mapping to keys. */
  readonly watches?: readonly Watch[]
  /** How many objects are reconciled at once. @default 1 */
  readonly concurrency?: number
  /** @default the kind in lower case */
  readonly name?: string
  /** Brings the world closer to what the object asks for. Never called for an object that is being deleted. */
  reconcile(object: Read, context: Context): Awaitable<Outcome<Status> | void>
  /** Having one adds a finalizer; when it returns, the finalizer is removed and the object may go. */
  cleanup?(object: Read, context: Context): Awaitable<Outcome<never> | void>
}

/** A controller as an inspectable value: nothing is registered or started by making one. */
export interface Controller {
  readonly name: string
  readonly kind: AnyKind
  readonly owns: readonly AnyKind[]
  readonly watches: readonly Watch[]
  readonly concurrency: number
  readonly reconcile: (object: never, context: Context) => Awaitable<Outcome<unknown> | void>
  readonly cleanup: ((object: never, context: Context) => Awaitable<Outcome<never> | void>) | undefined
}

/** Describes how objects of a kind are reconciled. Pure: the value is run by a manager. */
export function defineController<Read, Write, Status>(
  kind: Kind<Read, Write, Status>,
  options: ControllerOptions<Read, Status>,
): Controller {
  const { concurrency = 1, name = kind.kind.toLowerCase() } = options
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new RangeError(
      `Cannot define controller "${name}" as 'concurrency' must be a positive integer: current value is ${concurrency}`,
    )
  }
  return Object.freeze({
    name,
    kind,
    owns: Object.freeze([...(options.owns ?? [])]),
    watches: Object.freeze([...(options.watches ?? [])]),
    concurrency,
    reconcile: (object: never, context: Context) => options.reconcile(object, context),
    cleanup: options.cleanup ? (object: never, context: Context) => options.cleanup!(object, context) : undefined,
  })
}
