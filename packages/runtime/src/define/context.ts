import type { AnyKind, Infer, KubeObject, Reads, TypeMeta } from '@kubewright/api'
import type { Duration, Logger } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import type { Cluster, Clusters } from '../cluster/cluster.ts'
import type { WatchObjects } from '../controller/dynamic-watches.ts'
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

/** Options of {@link Context.event}. */
export interface EventOptions {
  /** The action that the controller was performing, in CamelCase. @default the reason */
  readonly action?: string | undefined
  /** A second object that the Event is about, such as the child that failed. */
  readonly related?: KubeObject | undefined
  /** Records the Event about this object instead of the reconciled one. */
  readonly about?: KubeObject | undefined
}

/** Some fields of a status. Lists are complete, except for conditions, which are merged by type. */
export type StatusParts<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: StatusParts<T[K]> | undefined }
    : T

/** The context of a reconcile. Its members are closures and may be destructured and spread. */
export interface Context<Status = unknown> {
  /**
   * Reads watched kinds from the cache, including own writes, and other kinds from the server. Sends writes to the
   * server.
   */
  readonly client: Client
  /** The cluster of the object. Its `name` is `''` for the main one. */
  readonly cluster: Cluster
  /** All clusters of the manager by name, including the main one. */
  readonly clusters: Clusters
  /**
   * Watches further objects for this object and reads them: their changes reconcile this object. A watch lives as long
   * as the last successful reconcile of the object started it again; watches of the same objects are shared. The
   * controller needs the verbs `get`, `list` and `watch` in its `rbac`.
   */
  readonly watch: WatchObjects
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
  /** Records an Event about the object, or about another one. */
  readonly event: (type: 'Normal' | 'Warning', reason: string, message: string, options?: EventOptions) => void
  /**
   * Changes some fields of the status now, as the `mergeStatus` of an outcome does at the end. Resolves when the server
   * has stored them, or when nothing would change.
   */
  // A method, so that a Context of any status can be passed to a function that takes a plain Context.
  mergeStatus(this: void, status: StatusParts<Status>): Promise<void>
  /**
   * Applies a child with server-side apply: sets owner reference, field manager and namespace, and resolves to the live
   * object. Sends a request only when the cache does not prove that nothing would change. The controller must `own` the
   * kind of the child.
   */
  readonly apply: <R>(child: Readonly<TypeMeta> & Reads<R>, options?: ApplyChildOptions) => Promise<R>
  /** The objects of a kind that this object controls, ordered by namespace and name. */
  readonly children: <K extends AnyKind>(kind: K) => Promise<readonly Infer<K>[]>
}

/** The result of `onError`. */
export interface FailureOutcome<Status> {
  /**
   * Some fields of the status: the others keep what this controller wrote before. Objects are merged field by field,
   * conditions by type; other lists are replaced.
   */
  mergeStatus?: StatusParts<Status> | undefined
}

/** The result of a reconcile: of `status` and `mergeStatus` at most one. To requeue with back-off, throw instead. */
export interface Outcome<Status> extends FailureOutcome<Status> {
  /**
   * The whole status, applied to the status subresource when it differs from the current one. Conditions get their
   * times and their observed generation. Fields and conditions that this controller wrote before and that are missing
   * now are removed; those of other managers are kept.
   */
  status?: Status | undefined
  /** Requeues the object after this time, even if nothing changes. */
  requeueAfter?: Duration | undefined
  /** False keeps children that this reconcile did not apply, although the controller prunes. @default true */
  prune?: boolean | undefined
}
