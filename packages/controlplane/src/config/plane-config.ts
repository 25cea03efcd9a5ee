import type { Clock, Duration, Logger, Random } from '@kubewright/base'
import type { Transport } from '@kubewright/client'
import type { SimulateNodesOptions } from '@kubewright/controllers'
import type { LeaderElectionOptions } from '@kubewright/runtime'
import type { AssembleServerOptions, ServerIdentity } from '@kubewright/server'
import type { Store } from '@kubewright/storage'
import type { AccessConfig } from './access-config.ts'
import type { AuditConfig } from './audit-config.ts'
import type { ServingConfig } from './serving-config.ts'
import type { StoreConfig } from './store-config.ts'

/** The options of the API server that a {@link PlaneConfig} has under the same names. */
type ServerConfig = Omit<
  AssembleServerOptions,
  'store' | 'access' | 'audit' | 'nodes' | 'components' | 'published' | 'isBootstrapped' | 'clock' | 'random' | 'log'
>

/**
 * Describes a control plane. `startControlPlane` runs it in this process, `serve` also listens for clients. Every member has a default.
 */
export interface PlaneConfig extends ServerConfig {
  /**
   * Where objects are kept. An open store stays the caller's to close. @default in memory, for the lifetime of the control plane
   */
  readonly store?: Store | StoreConfig | undefined
  /**
   * The built-in controllers to run: all, none, or a list of names as in kube-controller-manager (`-name` excludes one,
   * `*` stands for all). Unknown names are rejected. @default 'all'
   */
  readonly controllers?: ControllerChoice | undefined
  /**
   * The number of simulated nodes, or their specifications and the behaviour of containers. With 0, pods stay pending.
   * @default 1
   */
  readonly nodes?: number | NodesOptions | undefined
  /** Whether the scheduler binds pods to nodes. @default whether there are simulated nodes */
  readonly scheduler?: boolean | undefined
  /**
   * The resources that the garbage collector watches, and thus collects. Fewer resources make the start faster, which
   * matters for a simulation of many short runs. @default all
   */
  readonly collects?: ((resource: { readonly group: string; readonly plural: string }) => boolean) | undefined
  /**
   * How long the built-in controllers wait after a change of an object, so that further changes join it. A roll-out then needs
   * fewer writes, and takes longer. Does not apply to the scheduler and the simulated nodes. @default they do not wait
   */
  readonly debounce?: Duration | undefined
  /**
   * Whether the built-in controllers, the scheduler and the simulated nodes record Events. Without Events, short runs that
   * nothing reads them in need fewer writes. Does not apply with leader election. @default true
   */
  readonly events?: boolean | undefined
  /**
   * Whether controllers, scheduler and simulated nodes run only while this server holds their Leases in kube-system, and
   * the timing of these Leases. Several servers on one store require it. Without it, they start at once and no Lease is
   * written. @default whether the store is shared with other processes
   */
  readonly leaderElection?: boolean | ElectionTiming | undefined
  /** Who may access the API. @default verified client certificates and service account tokens */
  readonly access?: AccessConfig | undefined
  /** The audit log. @default none */
  readonly audit?: AuditConfig | undefined
  /**
   * The keys and certificates of the control plane. With an identity, its CA certificate is published in every
   * namespace, where pods expect it. @default `startControlPlane` generates keys when they are first needed, and publishes
   * nothing; `serve` keeps an identity beside the objects
   */
  readonly identity?: ServerIdentity | undefined
  /** Where `serve` listens. */
  readonly serving?: ServingConfig | undefined
  /**
   * Wraps every transport without sockets, including that of the built-in controllers, whose user is
   * `system:kube-controller-manager`. The wrapper can record, delay or fail requests. @default none
   */
  readonly intercept?: ((transport: Transport, user: ControlPlaneUser) => Transport) | undefined
  /** Whether faults can be injected: see `ControlPlane.levers`. @default false */
  readonly levers?: boolean | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
  /** @default the system's random numbers */
  readonly random?: Random | undefined
  /** @default silent */
  readonly log?: Logger | undefined
  /** Stops the control plane when it aborts. */
  readonly signal?: AbortSignal | undefined
}

/** Selects the built-in controllers to run. */
export type ControllerChoice = 'all' | 'none' | readonly string[]

/** The simulated nodes of a control plane. */
export type NodesOptions = Omit<SimulateNodesOptions, 'clock'>

/** The timing of the Leases of the control plane; see `LeaderElectionOptions`. All servers on one store must use the same. */
export type ElectionTiming = Pick<LeaderElectionOptions, 'leaseDuration' | 'renewDeadline' | 'retryPeriod'>

/** The user of a request, with the names that a client certificate would carry. */
export interface ControlPlaneUser {
  readonly name: string
  readonly groups?: readonly string[] | undefined
}
