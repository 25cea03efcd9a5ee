import {
  findCause,
  formatMicroTime,
  instantFromMillis,
  isAlreadyExists,
  isApiError,
  isInternalError,
  isNotFound,
  isServerTimeout,
  isServiceUnavailable,
  isTimeout,
  isTooManyRequests,
  type KubeObject,
} from '@kubewright/api'
import {
  type Clock,
  Deferred,
  type Duration,
  type Logger,
  type MetricLabels,
  type MetricSink,
  type Random,
  type Timer,
  toMillis,
} from '@kubewright/base'
import { type Client, dynamicKind } from '@kubewright/client'
import { EventCorrelator, type EventSeries } from './event-correlator.ts'
import { coreCount, coreEvent, reporterOf } from './event-draft.ts'
import { type EventResult, eventMetricName } from './event-metrics.ts'
import type { EventNote, EventRecorder } from './event-recorder.ts'

/** Options of {@link createEventRecorder}. */
export interface EventRecorderOptions {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
  readonly metrics?: MetricSink | undefined
  /** Randomizes the first retry, so that many processes do not retry at once. @default no jitter */
  readonly random?: Random | undefined
  /** The reporting component, such as the name of the operator. */
  readonly component: string
  /** The reporting replica, such as the name of the pod. */
  readonly instance: string
  /** How long disposing may take to write the waiting Events. @default '5s' */
  readonly flushTimeout?: Duration | undefined
}

const eventKinds = {
  'events.k8s.io/v1': dynamicKind({ group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events' }),
  v1: dynamicKind({ group: '', version: 'v1', kind: 'Event', plural: 'events' }),
}

// The limits of client-go.
const maxQueued = 1000
const maxTries = 12
const retryDelay = 10_000
const requestTimeout = '30s'

/**
 * Creates a recorder that writes Events in the background, one at a time. Repeated Events become a series and floods
 * are limited (see {@link EventCorrelator}). At most 1000 Events wait. Failed writes are retried for two minutes.
 * Disposing writes the waiting Events, within a deadline.
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder & AsyncDisposable {
  return new BackgroundRecorder(options)
}

class BackgroundRecorder implements EventRecorder, AsyncDisposable {
  readonly #options: EventRecorderOptions
  readonly #correlator: EventCorrelator
  readonly #queue: EventSeries[] = []
  readonly #abort = new AbortController()
  // Aborts the delays between retries: when the recorder is disposed, each Event gets one more attempt without delay.
  readonly #hurry = new AbortController()
  readonly #labels = new Map<EventResult, MetricLabels>()
  #working: Promise<void> | undefined
  #finishing: Timer | undefined
  #closed = false

  constructor(options: EventRecorderOptions) {
    this.#options = options
    this.#correlator = new EventCorrelator(options.clock, reporterOf(options.component, options.instance))
  }

  record(regarding: KubeObject, note: EventNote): void {
    if (this.#closed) {
      this.#count('dropped')
      return
    }
    const observed = this.#correlator.observe(regarding, note)
    const { type, reason, message } = note
    this.#options.log.debug('Event', { object: `${regarding.kind} ${regarding.metadata.name}`, type, reason, message })
    if (observed === undefined) {
      this.#count('filtered')
      return
    }
    if (observed.series.count > 1) this.#count('repeated')
    if (observed.write) this.#enqueue(observed.series)
    this.#planFinish()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#closed) {
      this.#closed = true
      this.#hurry.abort()
      this.#finishing?.cancel()
      for (const series of this.#correlator.unwritten()) this.#enqueue(series)
    }
    const { clock, flushTimeout = '5s', log } = this.#options
    const timeUp = new Deferred<void>()
    const end = (): void => {
      this.#abort.abort()
      timeUp.resolve()
    }
    const deadline = clock.setTimer(toMillis(flushTimeout), end, 'flush of events')
    await Promise.race([this.#working, timeUp.promise])
    deadline.cancel()
    const dropped = this.#queue.splice(0)
    if (dropped.length === 0) return
    log.warn('Events dropped: the deadline for writing them has passed', { count: dropped.length })
    for (const _ of dropped) this.#count('dropped')
  }

  #enqueue(series: EventSeries): void {
    if (series.queued) return
    if (this.#queue.length >= maxQueued) {
      this.#count('dropped')
      return
    }
    series.queued = true
    this.#queue.push(series)
    this.#working ??= this.#work()
  }

  #planFinish(): void {
    if (this.#finishing !== undefined || this.#closed) return
    const wait = this.#correlator.untilFinish()
    if (wait === undefined) return
    const finish = (): void => {
      this.#finishing = undefined
      for (const series of this.#correlator.finish()) this.#enqueue(series)
      this.#planFinish()
    }
    this.#finishing = this.#options.clock.setTimer(wait, finish, 'end of event series')
  }

  async #work(): Promise<void> {
    // Leaves the caller's stack, and lets repetitions in the same turn join the first write.
    await Promise.resolve()
    for (let series = this.#queue[0]; series !== undefined && !this.#abort.signal.aborted; series = this.#queue[0]) {
      const written = await this.#writeWithRetries(series)
      if (this.#abort.signal.aborted) break
      // The Event may have occurred again during the write.
      const { api, count, writtenCount } = series
      const worthWriting = api === 'v1' || this.#closed ? count > writtenCount : count >= 2 * writtenCount
      if (written && worthWriting) continue
      series.queued = false
      this.#queue.shift()
    }
    // Reset in the same synchronous step as the last check of the queue: an Event added later starts a new loop.
    this.#working = undefined
  }

  /** Returns whether the Event was written. */
  async #writeWithRetries(series: EventSeries): Promise<boolean> {
    const { clock, random, log } = this.#options
    for (let tries = 1; ; tries++) {
      try {
        await this.#write(series)
        return true
      } catch (error) {
        if (this.#abort.signal.aborted) return false
        if (!isWorthRetrying(error) || tries >= maxTries || this.#closed) {
          this.#count('failed')
          const { reason, note, regarding } = series.draft
          const about = { kind: regarding.kind, namespace: regarding.namespace, name: regarding.name, reason, note }
          // Creates in a terminating namespace always fail, and its Events are deleted with it.
          if (findCause(error, 'NamespaceTerminating')) log.debug('Event was not written', about)
          else log.error(error, 'Event was not written', about)
          return false
        }
        // Replicas that start together do not retry together.
        const wait = tries === 1 && random !== undefined ? retryDelay * random.next() : retryDelay
        await clock.sleep(wait, { signal: this.#hurry.signal }).catch(() => undefined)
      }
    }
  }

  async #write(series: EventSeries): Promise<void> {
    const { clock } = this.#options
    const { count } = series
    const options = { signal: this.#abort.signal, timeout: requestTimeout } as const
    const classic = series.api === 'v1'
    const state = classic ? coreCount(count, series.lastObserved) : seriesOf(series)
    if (series.writtenCount === 0 || !(await this.#patched(series, state, options))) {
      await this.#create(series, state, options)
      this.#count('created')
    }
    series.writtenCount = count
    series.lastWrite = clock.monotonic()
  }

  async #create(
    series: EventSeries,
    state: object,
    options: { readonly signal: AbortSignal; readonly timeout: Duration },
  ): Promise<void> {
    for (;;) {
      const { draft, api, firstObserved } = series
      try {
        await this.#options.client.create(
          { ...(api === 'v1' ? coreEvent(draft, firstObserved) : draft), ...state },
          options,
        )
        return
      } catch (error) {
        if (!isAlreadyExists(error)) {
          series.mayExist = true
          throw error
        }
        // The response to an earlier create was lost; the Event exists.
        if (series.mayExist) return
        this.#correlator.rename(series)
      }
    }
  }

  /** Returns false when the Event does not exist: servers delete Events after an hour. */
  async #patched(
    { api, draft }: EventSeries,
    state: object,
    options: { readonly signal: AbortSignal; readonly timeout: Duration },
  ): Promise<boolean> {
    const { name, namespace } = draft.metadata
    try {
      await this.#options.client.patch(eventKinds[api], { name, namespace }, state as never, {
        ...options,
        type: 'merge',
      })
      return true
    } catch (error) {
      if (isNotFound(error)) return false
      throw error
    }
  }

  #count(result: EventResult): void {
    const { metrics } = this.#options
    if (metrics === undefined) return
    let labels = this.#labels.get(result)
    if (labels === undefined) {
      labels = Object.freeze({ result })
      this.#labels.set(result, labels)
    }
    metrics.add(eventMetricName, labels, 1)
  }
}

/** The `series` of an Event of events.k8s.io; empty for the first occurrence. */
function seriesOf({ count, lastObserved }: EventSeries): object {
  if (count === 1) return {}
  return { series: { count, lastObservedTime: formatMicroTime(instantFromMillis(lastObserved / 1000)) } }
}

/** Whether the server was unreachable or overloaded. A rejected Event would be rejected again. */
function isWorthRetrying(error: unknown): boolean {
  if (!isApiError(error)) return true
  const guards = [isTooManyRequests, isServiceUnavailable, isServerTimeout, isTimeout, isInternalError]
  return guards.some((guard) => guard(error))
}
