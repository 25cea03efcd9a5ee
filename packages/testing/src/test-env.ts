import type { AnyKind, Infer } from '@kubewright/api'
import type { Duration, Logger } from '@kubewright/base'
import type { ApiClient, Key } from '@kubewright/client'
import type { ControllerChoice, ControlPlane, NodesOptions } from '@kubewright/controlplane'
import type { Manager, ReconcileRecord } from '@kubewright/runtime'

/** What {@link startTestEnv} takes besides the operator. */
export interface TestEnvOptions {
  /** How everybody reaches the API server: by calls, or over HTTPS on this machine as in a cluster. @default 'in-process' */
  readonly transport?: 'in-process' | 'https' | undefined
  /** With virtual time nothing waits for real: time passes while the test waits, or when it says so. @default 'real' */
  readonly time?: 'real' | 'virtual' | undefined
  /** The built-in controllers that run. @default 'all' */
  readonly controllers?: ControllerChoice | undefined
  /** How many simulated nodes there are, or which, and how containers behave. @default 1 */
  readonly nodes?: number | NodesOptions | undefined
  /** The namespace of the test's objects; made if it does not exist. @default 'default' */
  readonly namespace?: string | undefined
  /** How long `until`, `gone` and `settled` wait. @default '10s', in virtual time '1h' */
  readonly timeout?: Duration | undefined
  /**
   * What the operator may do: what follows from its definition, as in a cluster, so that a right that it needs and nobody named fails the
   * test; or everything. @default 'derived'
   */
  readonly rights?: 'derived' | 'all' | undefined
  /** Whether the operator's webhooks are installed and asked. @default true */
  readonly webhooks?: boolean | undefined
  /**
   * Whether the operator, if it wants to, campaigns for its Lease as in a cluster. There is nobody to compete with, and a test that
   * is starved of time could lose it. @default false
   */
  readonly leaderElection?: boolean | undefined
  /** Kinds made by `defineResource` that are installed besides those that the operator names. */
  readonly install?: readonly AnyKind[] | undefined
  /** @default silent */
  readonly log?: Logger | undefined
}

/** How long a wait may take. */
export interface UntilOptions {
  /** @default that of the environment */
  readonly timeout?: Duration | undefined
}

/** A control plane of its own with an operator running on it. Disposing it stops both. */
export interface TestEnv extends AsyncDisposable {
  /** The test's own client: an administrator who is not the operator. Reads ask the server. */
  readonly client: ApiClient
  readonly namespace: string
  readonly controlPlane: ControlPlane
  /** The operator's manager; undefined when the environment runs none. */
  readonly manager: Manager | undefined
  readonly clock: {
    /** Wall time of the environment, in milliseconds since the epoch. */
    now(): number
    /** Lets time pass; only in virtual time. */
    advance(by: Duration): Promise<void>
  }
  /** Lets time pass; only in virtual time. */
  advance(by: Duration): Promise<void>
  /** Resolves to the object as soon as it exists and the condition holds. A failure shows the object, its events and reconciles. */
  until<K extends AnyKind>(
    kind: K,
    key: Key,
    when?: (object: Infer<K>) => boolean,
    options?: UntilOptions,
  ): Promise<Infer<K>>
  /** Resolves as soon as the object does not exist. */
  gone(kind: AnyKind, key: Key, options?: UntilOptions): Promise<void>
  /** Resolves when all controllers have seen everything and nothing is left to reconcile; delays that were asked for do not count. */
  settled(options?: UntilOptions): Promise<void>
  /** The operator's last reconciles, newest first. */
  reconciles(): readonly ReconcileRecord[]
  /** The state of all objects as it is now: environments started from it need no set-up. */
  snapshot(): TestSnapshot
}

/** The objects of an environment at one moment. */
export interface TestSnapshot extends AsyncDisposable {
  /** Starts an environment that goes on from here, with the same operator and options. */
  start(): Promise<TestEnv>
}
