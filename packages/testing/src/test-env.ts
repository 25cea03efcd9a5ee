import type { AnyKind, Draft, Infer } from '@kubewright/api'
import type { Clock, Duration, Logger, Random, Seed } from '@kubewright/base'
import type { ApiClient, Key, Transport } from '@kubewright/client'
import type { ControllerChoice, ControlPlane, NodesOptions } from '@kubewright/controlplane'
import type { Controller, HealthReport, Manager, ReconcileRecord } from '@kubewright/runtime'
import type { Crash, CrashOptions, Fault, FaultOptions, RequestSender } from './faults.ts'
import type { StatusOf, StepResult } from './step.ts'
import type { TestLogFormat } from './test-log.ts'

/** Options of {@link startTestEnv}. */
export interface TestEnvOptions {
  /**
   * How clients reach the API server: by function calls, or over HTTPS on the loopback address. @default 'in-process'
   */
  readonly transport?: 'in-process' | 'https' | undefined
  /**
   * With virtual time no wait takes real time: time advances while the test waits, or with `advance()`. @default 'real'
   */
  readonly time?: 'real' | 'virtual' | undefined
  /** The date at which virtual time starts. @default '2025-01-01T00:00:00Z' */
  readonly start?: string | number | Date | undefined
  /**
   * The seed of all random values: uids, generated names, jitter of timers. In virtual time, two in-process
   * environments with the same operator, options and seed have the same history. @default 1 in virtual time, else none
   */
  readonly seed?: Seed | undefined
  /** The source of random values, instead of a seed. */
  readonly random?: Random | undefined
  /**
   * The minor release of Kubernetes to serve, such as `1.36`. @default the environment variable KUBEWRIGHT_KUBERNETES, else the newest
   * stable release
   */
  readonly kubernetes?: string | undefined
  /** The built-in controllers to run. @default 'all' */
  readonly controllers?: ControllerChoice | undefined
  /** The number of simulated nodes, or their specifications and the behaviour of containers. @default 1 */
  readonly nodes?: number | NodesOptions | undefined
  /** The namespace of the test's objects; created if it does not exist. @default 'default' */
  readonly namespace?: string | undefined
  /** The timeout of `until`, `gone` and `settled`. @default '10s', in virtual time '1h' */
  readonly timeout?: Duration | undefined
  /**
   * The permissions of the operator: `derived` from its definition, as in a cluster, so that a missing permission fails the test;
   * or `all`.
   * @default 'derived'
   */
  readonly rights?: 'derived' | 'all' | undefined
  /** Whether the operator's webhooks are installed and called. @default true */
  readonly webhooks?: boolean | undefined
  /**
   * Whether an operator with leader election acquires its Lease as in a cluster. There is no other candidate, and a
   * test on a busy machine could lose the Lease. @default false
   */
  readonly leaderElection?: boolean | undefined
  /**
   * What to install besides the kinds that the operator refers to: kinds made by `defineResource`, and files with
   * CustomResourceDefinitions, such as `'crds/*.yaml'` or a folder. @default nothing
   */
  readonly install?: readonly (AnyKind | string)[] | undefined
  /**
   * Wraps the transports of all clients of the environment, to record, delay or fail their requests. Over HTTPS, those
   * of the built-in controllers are in process nevertheless. @default none
   */
  readonly intercept?: InterceptTransport | undefined
  /**
   * Whether the controllers of the operator run. If false, kinds, webhooks and permissions are installed as usual, and
   * only `step()` reconciles. @default true
   */
  readonly manager?: boolean | undefined
  /**
   * Where log lines go: a logger, or lines to the standard error. @default the format in the environment variable
   * KUBEWRIGHT_TEST_LOG (`pretty`, `json`, or `debug` for pretty lines with more detail), otherwise silent
   */
  readonly log?: Logger | TestLogFormat | undefined
  /**
   * Called with the reason when the environment runs on a real cluster and the test needs what only the embedded control
   * plane has. Pass the `skip` of the test's context to skip such tests. @default throws `KW_TEST_ON_CLUSTER`
   */
  readonly skip?: ((reason: string) => void) | undefined
}

/** Wraps the transport of one client of an environment. */
export type InterceptTransport = (transport: Transport, sender: RequestSender, clock: Clock) => Transport

/** Options of a wait. */
export interface UntilOptions {
  /** @default the timeout of the environment */
  readonly timeout?: Duration | undefined
}

/** Options of {@link TestEnv.eventually}. */
export interface EventuallyOptions extends UntilOptions {
  /** The time between two calls. @default '50ms', in virtual time '1s' */
  readonly interval?: Duration | undefined
}

/** Options of {@link TestEnv.consistently}. */
export interface ConsistentlyOptions {
  /** How long the function must pass. @default '1s', in virtual time '1m' */
  readonly for?: Duration | undefined
  /** The time between two calls. @default '50ms', in virtual time '1s' */
  readonly interval?: Duration | undefined
}

/** A control plane with an operator running on it. Disposal stops both. */
export interface TestEnv extends AsyncDisposable {
  /** The test's own client, with the permissions of an administrator and independent of the operator. Reads go to the server. */
  readonly client: ApiClient
  readonly namespace: string
  /** Not available on a real cluster. */
  readonly controlPlane: ControlPlane
  /** Whether the environment runs on the cluster of KUBEWRIGHT_TEST_CLUSTER instead of an embedded control plane. */
  readonly onCluster: boolean
  /** The operator's manager, a new one after each restart; undefined without an operator. */
  readonly manager: Manager | undefined
  readonly clock: {
    /** The wall time of the environment, in epoch milliseconds. */
    now(): number
    /** Advances the time. Requires virtual time. */
    advance(by: Duration): Promise<void>
  }
  /** Advances the time. Requires virtual time. */
  advance(by: Duration): Promise<void>
  /**
   * Resolves to the object as soon as it exists and the condition holds. On timeout the error shows the object, its
   * events and reconciles.
   */
  until<K extends AnyKind>(
    kind: K,
    key: Key,
    when?: (object: Infer<K>) => boolean,
    options?: UntilOptions,
  ): Promise<Infer<K>>
  /** Resolves as soon as the object does not exist. */
  gone(kind: AnyKind, key: Key, options?: UntilOptions): Promise<void>
  /**
   * Calls the function until it passes: until it neither throws nor returns false. Resolves to its result. Use it for
   * lists and several objects; virtual time advances between the calls, which the `expect.poll` of a test runner cannot do.
   */
  eventually<T>(check: () => T | Promise<T>, options?: EventuallyOptions): Promise<T>
  /** Resolves when the function passed at every call; rejects as soon as it throws or returns false. */
  consistently(check: () => unknown, options?: ConsistentlyOptions): Promise<void>
  /**
   * Reads an object, lets the function change it, and writes it. Repeats this when the operator writes at the same time. The
   * status of a kind with that subresource is not written.
   */
  update<K extends AnyKind>(kind: K, key: Key, change: (draft: Draft<K>) => unknown): Promise<Infer<K>>
  /**
   * Resolves when all controllers are up to date and no key is left to reconcile. Requeues with a delay do not count.
   */
  settled(options?: UntilOptions): Promise<void>
  /**
   * Reconciles one object once, with finalizer, children and status, and returns the outcome or the error. Use it with
   * the option `manager: false`, so that the running operator does not reconcile the object as well.
   */
  step<C extends Controller>(controller: C, key: Key): Promise<StepResult<StatusOf<C>>>
  /** Makes requests fail: by default the next one of the operator that matches. */
  fail(options: FaultOptions): Fault
  /** Ends the open watches of the operator, of all kinds or of one, as a lost connection would. Returns their number. */
  cutWatches(kind?: AnyKind): number
  /** Stops the operator and starts it again, with empty caches and queues. Its webhooks keep running. */
  restart(options?: { readonly downtime?: Duration | undefined }): Promise<void>
  /**
   * Crashes the operator at a request, once, and starts it again. From then on no request of the crashed run reaches the
   * server. Its webhooks keep running.
   */
  crashAt(options: CrashOptions): Crash
  /** The operator's last reconciles, newest first. After a restart, those of the new run. */
  reconciles(): readonly ReconcileRecord[]
  /** The operator's metrics page, in the text format of Prometheus. */
  metrics(): string
  /** Sends a GET request to the operator's metrics server, such as to one of its `metricsHandlers`. No access is checked. */
  request(path: string): Promise<{ readonly status: number; readonly body: string }>
  /** Runs the operator's health checks. A check that fails has a reason. */
  health(): Promise<{ readonly live: readonly HealthReport[]; readonly ready: readonly HealthReport[] }>
  /** Captures the current state of all objects. Environments started from it need no set-up. */
  snapshot(): TestSnapshot
}

/** The objects of an environment at one point in time. */
export interface TestSnapshot extends AsyncDisposable {
  /** Starts an environment with these objects, the same operator and the same options. */
  start(): Promise<TestEnv>
}
