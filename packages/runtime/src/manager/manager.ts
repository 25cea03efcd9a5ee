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

/** What `createManager` takes. */
export interface ManagerOptions {
  /** What to run. Without one the manager runs what is added to it. */
  readonly operator?: Operator | undefined
  /** @default the name of the operator */
  readonly name?: string | undefined
  /** The main cluster; whoever made it disposes it. */
  readonly cluster?: Cluster | undefined
  /** Instead of a cluster: the manager makes one of it, and disposes that one when it stops. */
  readonly client?: ApiClient | undefined
  /** @default the clock of the machine */
  readonly clock?: Clock | undefined
  /** @default the random source of the machine */
  readonly random?: Random | undefined
  /** @default none */
  readonly log?: Logger | undefined
  /** @default none */
  readonly metrics?: MetricSink | undefined
  /** Where the manager shows its controllers, its lease and its share of the keys. */
  readonly health?: HealthChecks | undefined
  /** @default none */
  readonly tracer?: Tracer | undefined
  /** @default nothing is recorded */
  readonly events?: EventRecorder | undefined
  /** Tells this replica from all others, also from earlier runs in the same pod. @default the name and a random UUID */
  readonly identity?: string | undefined
  /** Where Leases are when their options name no namespace. @default 'default' */
  readonly namespace?: string | undefined
  /** Overrides the operator's. */
  readonly leaderElection?: boolean | LeaderElectionOptions | undefined
  /** Overrides the operator's. */
  readonly sharding?: boolean | ShardingOptions | undefined
  /**
   * How long running work may take to end after a stop before its signals abort. 0 aborts at once, `Infinity` never does.
   * @default '30s'
   */
  readonly gracefulTimeout?: Duration | undefined
  /** How long work may take to end after its signals aborted before the stop fails. @default '5s' */
  readonly abortTimeout?: Duration | undefined
  /** How long caches that are in use before the start may take to sync. @default '2m' */
  readonly syncTimeout?: Duration | undefined
  /**
   * What becomes of a controller whose kinds are missing or forbidden for longer than its sync timeout. By default the manager
   * ends with an error that names the cure, as with controller-runtime. With true only this controller waits, shown by readiness,
   * and starts as soon as it can. @default false
   */
  readonly degraded?: boolean | undefined
  /** Makes the part that serves the operator's webhooks; called once at the start, if given. */
  readonly serveWebhooks?: ((manager: Manager) => Runnable) | undefined
}

/** The clusters beside the main one. Each runs all object and key controllers of the manager, with sources of its own. */
export interface ManagedClusters extends Iterable<Cluster> {
  get(name: string): Cluster | undefined
  /**
   * Has the manager's controllers work on a further cluster, whose name must be new and not empty. Resolves when their sources
   * have synced; rejects, and leaves nothing behind, when they cannot. Before the start it only takes note.
   */
  engage(cluster: Cluster): Promise<void>
  /** Ends the work on a cluster: drains its reconciles and stops its sources. The cluster itself is the caller's to dispose. */
  disengage(name: string): Promise<void>
}

/**
 * Runs the parts of an operator in order: servers, webhooks, caches, what every replica does, and, while this replica leads, what
 * only one does. There are no globals: a process may have any number of managers.
 */
export interface Manager {
  readonly name: string
  /** What this replica is called in Leases. */
  readonly identity: string
  readonly operator: Operator | undefined
  /** The main cluster. Not fenced: what must only be done by a leader uses the client that its context or runner is given. */
  readonly cluster: Cluster
  readonly clusters: ManagedClusters
  /** The controllers in operation, those of all clusters. */
  readonly runners: readonly ControllerRunner[]
  /** Resolves when this replica leads for the first time; without election, when the leader's parts are started. */
  readonly elected: Promise<void>
  /** Whether this replica may do the leader's work right now. */
  readonly isLeader: boolean
  /** The state of election and sharding, for people and for the debug endpoint. */
  describe(): ManagerState
  /** Adds a part, which is started as soon as its phase is. */
  add(part: Runnable | Controller | KeyController): void
  /**
   * Starts everything and runs until the signal aborts; resolves when all parts have ended. Rejects when a part fails for good,
   * after the others were stopped, or when parts do not end in time. Can be called once.
   */
  start(options: { readonly signal: AbortSignal }): Promise<void>
}

/** What a manager is doing at one moment. */
export interface ManagerState {
  readonly name: string
  readonly identity: string
  readonly phase: 'new' | 'starting' | 'running' | 'stopping' | 'stopped'
  readonly leaderElection?: {
    readonly lease: string
    /** The identity that holds the lease, as last seen; empty when nobody does. */
    readonly holder: string
    readonly leading: boolean
  }
  readonly sharding?: {
    /** The replicas among which the keys are shared, as this one sees it, in order. */
    readonly members: readonly string[]
    /** Whether this replica holds its share. */
    readonly joined: boolean
    /** The keys that are being worked on. */
    readonly held: number
  }
  readonly clusters: readonly string[]
  readonly runnables: readonly string[]
}
