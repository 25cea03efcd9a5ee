import type { Clock, Duration, Logger, MetricSink, Random } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import type { Cluster } from '../cluster/cluster.ts'
import type { ControllerRunner } from '../controller/controller-runner.ts'
import type { KeyController } from '../controller/key-controller.ts'
import type { Controller } from '../define/define-controller.ts'
import type { LeaderElectionOptions, Operator, ShardingOptions } from '../define/define-operator.ts'
import type { Runnable } from '../define/runnable.ts'
import type { HealthChecks } from '../serving/health/health-check.ts'
import type { EventRecorder } from '../telemetry/events/event-recorder.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'

/** Options of `createManager`. */
export interface ManagerOptions {
  /** The operator to run. Without one, the manager runs what is added to it. */
  readonly operator?: Operator | undefined
  /** @default the name of the operator */
  readonly name?: string | undefined
  /** The main cluster. The caller disposes it. */
  readonly cluster?: Cluster | undefined
  /**
   * Used instead of a cluster: the manager creates one from it with the cache settings of the operator, and disposes it
   * when it stops.
   */
  readonly client?: ApiClient | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
  /** @default the system's randomness */
  readonly random?: Random | undefined
  /** @default none */
  readonly log?: Logger | undefined
  /** Receives all measurements. A registry also shows the `metrics` of the operator. @default none */
  readonly metrics?: MetricSink | undefined
  /** Receives the checks of the operator, controllers, leader election and sharding. */
  readonly health?: HealthChecks | undefined
  /** @default none */
  readonly tracer?: Tracer | undefined
  /** @default nothing is recorded */
  readonly events?: EventRecorder | undefined
  /**
   * Identifies this replica. Must be unique, even among earlier runs in the same pod. @default the name and a random
   * UUID
   */
  readonly identity?: string | undefined
  /** The namespace of Leases whose options have none. @default 'default' */
  readonly namespace?: string | undefined
  /** Overrides the operator's option. */
  readonly leaderElection?: boolean | LeaderElectionOptions | undefined
  /** Overrides the operator's option. */
  readonly sharding?: boolean | ShardingOptions | undefined
  /**
   * How long running work may take to end after a stop before its signals abort. 0 aborts at once, `Infinity` never.
   * @default '30s'
   */
  readonly gracefulTimeout?: Duration | undefined
  /** How long work may take to end after its signals aborted before the stop fails. @default '5s' */
  readonly abortTimeout?: Duration | undefined
  /** The sync timeout of caches that are in use before the start. @default '2m' */
  readonly syncTimeout?: Duration | undefined
  /**
   * Whether the manager keeps running when a controller cannot start, for example because its kinds are missing or
   * forbidden for longer than its sync timeout. If true, the readiness check reports that controller, which starts again
   * every five seconds. If false, the manager ends with an error, as in controller-runtime. @default false
   */
  readonly degraded?: boolean | undefined
  /** Creates the runnable that serves the operator's webhooks. Called once at the start. */
  readonly serveWebhooks?: ((manager: Manager) => Runnable) | undefined
}

/** Options of {@link ManagedClusters.engage}. */
export interface EngageOptions {
  /** How long the sources may take to sync. @default '30s' */
  readonly timeout?: Duration | undefined
}

/** The clusters besides the main one. Each runs all controllers of the manager, with its own sources. */
export interface ManagedClusters extends Iterable<Cluster> {
  get(name: string): Cluster | undefined
  /**
   * Runs the manager's controllers on a further cluster, whose name must be new and not empty. Starts its cache, and
   * resolves when the sources have synced. Rejects, and undoes everything, when they have not synced in time. Before the
   * start it only registers the cluster; one that does not sync then is retried and does not block the others.
   */
  engage(cluster: Cluster, options?: EngageOptions): Promise<void>
  /**
   * Ends the work on a cluster: drains its reconciles and stops its sources. The caller disposes the cluster itself.
   */
  disengage(name: string): Promise<void>
}

/**
 * Runs the parts of an operator in order: servers, webhooks, caches, the parts of every replica and, while this replica
 * leads, those of the leader. There is no global state: a process may have any number of managers.
 */
export interface Manager {
  readonly name: string
  /** The identity of this replica in Leases. */
  readonly identity: string
  readonly operator: Operator | undefined
  /** Traces the reconciles of all controllers. The one of the options, or one that does nothing. */
  readonly tracer: Tracer
  /** The main cluster. Its clients have no write gate: work of the leader must use the clients in its context. */
  readonly cluster: Cluster
  readonly clusters: ManagedClusters
  /** The running controllers of all clusters. */
  readonly runners: readonly ControllerRunner[]
  /** Resolves when this replica leads for the first time; without leader election, when the leader's parts start. */
  readonly elected: Promise<void>
  /** Whether this replica may do the leader's work now. */
  readonly isLeader: boolean
  /** The state of leader election and sharding, for the debug page. */
  describe(): ManagerState
  /** Adds a part, which starts with its phase, or at once if the phase has started. */
  add(part: Runnable | Controller | KeyController): void
  /**
   * Removes a part that was added or that belongs to the operator: drains its work, aborts it after the graceful timeout,
   * and stops its watches on all clusters. Resolves when it has ended; does nothing for a part that the manager does not
   * have. A controller with the same name can be added afterwards.
   */
  remove(part: Runnable | Controller | KeyController): Promise<void>
  /**
   * Starts everything and runs until the signal aborts; resolves when all parts have ended. Rejects when a part fails,
   * after the others were stopped, or when parts do not end in time. Can be called once.
   */
  start(options: { readonly signal: AbortSignal }): Promise<void>
}

/** The state of a manager at one moment. */
export interface ManagerState {
  readonly name: string
  readonly identity: string
  readonly phase: 'new' | 'starting' | 'running' | 'stopping' | 'stopped'
  readonly leaderElection?:
    | {
        readonly lease: string
        /** The last observed holder of the lease; empty when there is none. */
        readonly holder: string
        readonly leading: boolean
      }
    | undefined
  readonly sharding?:
    | {
        /** The replicas that share the keys, as this one observes them, sorted. */
        readonly members: readonly string[]
        /** Whether this replica holds its share. */
        readonly joined: boolean
        /** The number of keys in process. */
        readonly held: number
      }
    | undefined
  readonly clusters: readonly string[]
  readonly runnables: readonly string[]
}
