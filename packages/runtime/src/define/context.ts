import type { AnyKind, Infer, Reads, TypeMeta } from '@kubewright/api'
import type { Duration, Logger } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import type { CountedCause } from '../queue/cause.ts'

/**
 * Whether `apply` may adopt an existing object without a controller. `ours`: if this controller applied it before, for
 * example after its owner was deleted and the children were orphaned. `orphans`: always. `never`: not at all. An object
 * that another controller owns is never adopted.
 */
export type Adoption = 'ours' | 'orphans' | 'never'

/** Options of {@link Context.apply}. */
export interface ApplyChildOptions {
  /** Whether to take over fields that other managers own. @default true */
  readonly force?: boolean | undefined
  /** @default the `adopt` option of the controller */
  readonly adopt?: Adoption | undefined
}

/** The context of a reconcile. Its members are closures and may be destructured. */
export interface Context {
  /**
   * Reads watched kinds from the cache, including own writes, and other kinds from the server. Sends writes to the
   * server.
   */
  readonly client: Client
  /**
   * Aborted when the reconcile times out, the manager's grace period ends, or the key may belong to another replica.
   */
  readonly signal: AbortSignal
  /** The current time of the manager's clock, as a new Date. Test environments with virtual time control it. */
  readonly now: () => Date
  /** A logger with the values controller, object and reconcileID. */
  readonly log: Logger
  /** Why the object is reconciled, oldest cause first. */
  readonly causes: readonly CountedCause[]
  /** Unique to this reconcile. Every line of {@link log} contains it. */
  readonly reconcileID: string
  /** Records an Event about the object. */
  readonly event: (type: 'Normal' | 'Warning', reason: string, message: string) => void
  /**
   * Applies a child with server-side apply: sets owner reference, field manager and namespace, and resolves to the live
   * object. Sends a request only when the cache does not prove that nothing would change. The controller must `own` the
   * kind of the child.
   */
  readonly apply: <R>(child: Readonly<TypeMeta> & Reads<R>, options?: ApplyChildOptions) => Promise<R>
  /** The objects of a kind that this object controls, ordered by namespace and name. */
  readonly owned: <K extends AnyKind>(kind: K) => Promise<readonly Infer<K>[]>
}

/** The result of a reconcile. To requeue with back-off, throw instead. */
export interface Outcome<Status> {
  /**
   * The status, applied to the status subresource as a whole when it differs from the current one. Conditions get their
   * times and their observed generation. Fields and conditions that were returned last time and are missing now are
   * removed; those of other managers are kept.
   */
  status?: Status
  /** Requeues the object after this time, even if nothing changes. */
  requeueAfter?: Duration
  /** False keeps children that this reconcile did not apply, although the controller prunes. @default true */
  prune?: boolean
}
