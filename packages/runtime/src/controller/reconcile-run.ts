import { type AnyKind, parseKey } from '@kubewright/api'
import {
  type Clock,
  formatDuration,
  KubewrightError,
  type LinkedController,
  type Logger,
  type LogValues,
  linkSignals,
  type Random,
  type Timer,
  uuid,
} from '@kubewright/base'
import type { Client } from '@kubewright/client'
import type { Cluster, Clusters } from '../cluster/cluster.ts'
import type { CountedCause } from '../queue/cause.ts'
import type { Taken } from '../queue/queue.ts'
import type { EventRecorder } from '../telemetry/events/event-recorder.ts'
import type { Tracer } from '../telemetry/tracing/tracer.ts'
import type { ReconcileRecord } from './controller-runner.ts'
import type { DynamicWatches, WatchObjects, WatchSession } from './dynamic-watches.ts'
import type { KeyContext } from './key-controller.ts'
import { parseClusterKey } from './sources/cluster-source.ts'

const noTargets: ReadonlySet<never> = new Set<never>()

/** The values that all reconciles of a controller share. */
export interface ReconcileHost {
  readonly controller: string
  readonly kind: AnyKind | undefined
  readonly clock: Clock
  readonly random: Random
  readonly client: Client
  readonly events: EventRecorder
  /** A logger with the values of the controller. */
  readonly log: Logger
  readonly cluster: Cluster
  readonly clusters: Clusters
  readonly watches: DynamicWatches
  /** May copy the log of a reconcile. */
  readonly tracer: Pick<Tracer, 'loggerOf'>
}

/** One reconcile: the context while it runs, and its record afterwards. Expensive values are computed on first read. */
export class ReconcileRun implements KeyContext {
  readonly key: string
  readonly taken: Taken
  /** The monotonic time of the start. */
  readonly started: number
  readonly #host: ReconcileHost
  readonly #startedAt: number
  readonly #abort: AbortSignal
  #log: Logger | undefined
  #id: string | undefined
  #link: LinkedController | undefined
  #timer: Timer | undefined
  #timeout: KubewrightError | undefined
  #ended = false
  #watching: WatchSession | undefined
  /** Aborts when the key may belong to another process. Set before the reconciler is called. */
  lost: AbortSignal | undefined
  /** What the reconcile waits for, as it reported. */
  waiting: string | undefined
  /** How often it was reported as hanging. */
  reports = 0
  /** Set when the reconcile has ended. */
  result: ReconcileRecord['result'] = 'success'
  durationMillis = 0
  error: unknown
  requeueAfterMillis: number | undefined

  constructor(host: ReconcileHost, taken: Taken, abort: AbortSignal, started: number) {
    this.#host = host
    this.key = taken.key
    this.taken = taken
    this.#abort = abort
    this.started = started
    this.#startedAt = host.clock.now()
  }

  get client(): Client {
    return this.#host.client
  }

  get events(): EventRecorder {
    return this.#host.events
  }

  get cluster(): Cluster {
    return this.#host.cluster
  }

  get clusters(): Clusters {
    return this.#host.clusters
  }

  get watch(): WatchObjects {
    if (this.#watching === undefined) {
      const { client, watches } = this.#host
      const { key } = parseClusterKey(this.key)
      // Key controllers may use keys of any form, which have no namespace.
      const { namespace = '' } = key.split('/').length > 2 ? {} : parseKey(key)
      const { waitsFor } = this
      this.#watching = watches.session(this.key, { client, namespace, signal: () => this.signal, waitsFor })
    }
    return this.#watching.watch
  }

  get causes(): readonly CountedCause[] {
    return this.taken.causes
  }

  get reconcileID(): string {
    return (this.#id ??= uuid(this.#host.random))
  }

  get log(): Logger {
    if (this.#log === undefined) {
      const { log, kind, tracer } = this.#host
      const own = log.withValues({ ...keyValues(kind, this.key), reconcileID: this.reconcileID })
      this.#log = tracer.loggerOf?.(this.reconcileID, own) ?? own
    }
    return this.#log
  }

  get signal(): AbortSignal {
    if (this.#link === undefined) {
      this.#link = linkSignals(this.#abort, this.lost)
      if (this.#timeout !== undefined) this.#link.abort(this.#timeout)
      // Removes the listener from the controller's signal, even when this is first read after the end.
      if (this.#ended) this.#link[Symbol.dispose]()
    }
    return this.#link.signal
  }

  get waitsFor(): (what: string | undefined) => void {
    return (what) => {
      this.waiting = what
    }
  }

  get now(): () => Date {
    const { clock } = this.#host
    return () => new Date(clock.now())
  }

  get timedOut(): boolean {
    return this.#timeout !== undefined
  }

  /** Whether the reconcile was aborted because the controller stops or the key may belong to another process. */
  get interrupted(): boolean {
    return this.#abort.aborted || this.lost?.aborted === true
  }

  /** Aborts the signal after `millis` milliseconds. */
  limit(millis: number): void {
    const { clock, controller } = this.#host
    const onTimeout = (): void => {
      const what = `reconcile of ${JSON.stringify(this.key)} by controller "${controller}"`
      this.#timeout = new KubewrightError('KW_DEADLINE_EXCEEDED', `Timed out after ${formatDuration(millis)}: ${what}`)
      this.#link?.abort(this.#timeout)
    }
    this.#timer = clock.setTimer(millis, onTimeout, 'reconcile timeout')
  }

  /** How a user ends the failures of the object; undefined when the key is not that of an object. */
  fix(): string | undefined {
    const { kind } = this.#host
    const { key } = parseClusterKey(this.key)
    if (kind === undefined || key.split('/').length > 2) return undefined
    const { name, namespace } = parseKey(key)
    const resource = kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`
    const object = `${resource} ${name}${namespace ? ` -n ${namespace}` : ''}`
    return `correct the object with "kubectl edit ${object}", or delete it with "kubectl delete ${object}"`
  }

  end(now: number): void {
    this.#ended = true
    this.durationMillis = now - this.started
    this.#timer?.cancel()
    this.#link?.[Symbol.dispose]()
    const failed = this.result !== 'success' && this.result !== 'requeue_after'
    if (this.#watching !== undefined) this.#watching.end(failed)
    else this.#host.watches.finish(this.key, noTargets, failed)
  }

  record(): ReconcileRecord {
    const { result, error, requeueAfterMillis } = this
    return {
      controller: this.#host.controller,
      key: this.key,
      reconcileID: this.reconcileID,
      causes: this.causes,
      startedAt: this.#startedAt,
      durationMillis: this.durationMillis,
      result,
      ...(error === undefined ? {} : { error }),
      ...(requeueAfterMillis === undefined ? {} : { requeueAfterMillis }),
    }
  }
}

/** The log values that identify a key; those of controller-runtime when it is the key of an object. */
function keyValues(kind: AnyKind | undefined, text: string): LogValues {
  const { cluster, key } = parseClusterKey(text)
  if (key.split('/').length > 2) return { request: text }
  const { name, namespace = '' } = parseKey(key)
  return {
    ...(cluster === '' ? {} : { cluster }),
    ...(kind === undefined ? {} : { [kind.kind]: { name, namespace } }),
    namespace,
    name,
  }
}
