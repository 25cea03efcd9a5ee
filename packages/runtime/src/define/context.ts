import type { AnyKind, Infer, Reads, TypeMeta } from '@kubewright/api'
import type { Duration, Logger } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import type { CountedCause } from '../queue/cause.ts'

/**
 * Whether `apply` may make an object its child that exists and has no controller. `ours`: if this controller applied it before, as
 * after a deletion of the owner that left the children behind; `orphans`: always; `never`: not at all. An object that somebody else
 * controls is never taken over.
 */
export type Adoption = 'ours' | 'orphans' | 'never'

/** Options of one {@link Context.apply}. */
export interface ApplyChildOptions {
  /** Takes over fields that others own, so that what the controller asks for wins. @default true */
  readonly force?: boolean | undefined
  /** @default that of the controller */
  readonly adopt?: Adoption | undefined
}

/** What a reconciler is given besides the object: closures, safe to destructure. */
export interface Context {
  /** Reads kinds that the operator watches from the cache, with its own writes already visible; writes to the server. */
  readonly client: Client
  /** Aborted when the manager's patience with running reconciles ends, or the reconcile runs out of time. */
  readonly signal: AbortSignal
  /** The time by the manager's clock, a new Date for each call: a test environment with virtual time moves it. */
  readonly now: () => Date
  /** Carries controller, object and reconcileID. */
  readonly log: Logger
  /** Why the object is being looked at, oldest cause first. */
  readonly causes: readonly CountedCause[]
  /** Unique to this reconcile; every line of {@link log} carries it. */
  readonly reconcileID: string
  /** Records an Event about the object. */
  readonly event: (type: 'Normal' | 'Warning', reason: string, message: string) => void
  /**
   * Server-side applies a child: sets owner, field manager and namespace; resolves to the live object. Asks the server only when the
   * cache cannot prove that nothing would change. The kind of the child must be among those that the controller `owns`.
   */
  readonly apply: <R>(child: Readonly<TypeMeta> & Reads<R>, options?: ApplyChildOptions) => Promise<R>
  /** The objects of a kind that this object controls, ordered by namespace and name. */
  readonly owned: <K extends AnyKind>(kind: K) => Promise<readonly Infer<K>[]>
}

/** The intent that a reconcile returns. Throwing means back-off instead. */
export interface Outcome<Status> {
  /**
   * Applied to the status subresource, as a whole, when it differs from what is there. Conditions get their times and the generation
   * that they are about; fields and conditions that were returned last time and are missing now are removed; those of others stay.
   */
  status?: Status
  /** Look again after this long, even if nothing changes. */
  requeueAfter?: Duration
  /** False keeps children that were not applied this time, although the controller prunes. @default true */
  prune?: boolean
}
