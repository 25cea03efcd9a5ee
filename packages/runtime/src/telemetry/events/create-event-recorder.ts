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

/** What {@link createEventRecorder} takes. */
export interface EventRecorderOptions {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
  readonly metrics?: MetricSink | undefined
  /** Spreads the first retries of many processes. @default no spread */
  readonly random?: Random | undefined
  /** Who reports, such as the name of the operator. */
  readonly component: string
  /** Which one of several replicas, such as the name of the pod. */
  readonly instance: string
  /** How long disposing may take to write what is waiting. @default '5s' */
  readonly flushTimeout?: Duration | undefined
}

const eventKinds = {
  'events.k8s.io/v1': dynamicKind({ group: 'events.k8s.io', version: 'v1', kind: 'Event', plural: 'events' }),
  v1: dynamicKind({ group: '', version: 'v1', kind: 'Event', plural: 'events' }),
}

// The figures of client-go.
const maxQueued = 1000
const maxTries = 12
const retryDelay = 10_000
const requestTimeout = '30s'

/**
 * Makes a recorder that writes Events in the background, one at a time. Repetitions become a series, floods are
 * limited (see {@link EventCorrelator}), at most 1000 Events wait, and a server that cannot be reached is tried for two minutes.
 * Disposing writes what is waiting, within a deadline.
 */
export function createEventRecorder(options: EventRecorderOptions): EventRecorder & AsyncDisposable {
  return new BackgroundRecorder(options)
}

class BackgroundRecorder implements EventRecorder, AsyncDisposable {
  readonly #options: EventRecorderOptions
  readonly #correlator: EventCorrelator
  readonly #queue: EventSeries[] = []
  readonly #abort = new AbortController()
  // Ends the waits between tries: each Event has one more try when the recorder is disposed.
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
    log.warn('Events were dropped as there was no more time to write them', { count: dropped.length })
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
    // Not on the stack of whoever records, and after what it repeats at once.
    await Promise.resolve()
    for (let series = this.#queue[0]; series !== undefined && !this.#abort.signal.aborted; series = this.#queue[0]) {
      const written = await this.#writeWithRetries(series)
      if (this.#abort.signal.aborted) break
      // It may have occurred again meanwhile.
      const { api, count, writtenCount } = series
      const worthWriting = api === 'v1' || this.#closed ? count > writtenCount : count >= 2 * writtenCount
      if (written && worthWriting) continue
      series.queued = false
      this.#queue.shift()
    }
    // In the same step as the last look at the queue, so that nothing can be added unseen.
    this.#working = undefined
  }

  /** Whether it was written. */
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
          // Nothing can be created in a namespace that is going, and nobody is missing it.
          if (findCause(error, 'NamespaceTerminating')) log.debug('Event was not written', about)
          else log.error(error, 'Event was not written', about)
          return false
        }
        // Replicas that start together do not come back together.
        const wait = tries === 1 && random !== undefined ? retryDelay * random.next() : retryDelay
        await clock.sleep(wait, { signal: this.#hurry.signal }).catch(() => undefined)
      }
    }
  }

  async #write(series: EventSeries): Promise<void> {
    const { client, clock } = this.#options
    const { count } = series
    const options = { signal: this.#abort.signal, timeout: requestTimeout } as const
    const classic = series.api === 'v1'
    const draft = classic ? coreEvent(series.draft, series.firstObserved) : series.draft
    const state = classic ? coreCount(count, series.lastObserved) : seriesOf(series)
    if (series.writtenCount === 0 || !(await this.#patched(series, state, options))) {
      try {
        await client.create({ ...draft, ...state }, options)
      } catch (error) {
        // An answer was lost, and the Event is there.
        if (!isAlreadyExists(error)) throw error
      }
      this.#count('created')
    }
    series.writtenCount = count
    series.lastWrite = clock.monotonic()
  }

  /** Whether the Event was there to be patched: servers forget Events after an hour. */
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

/** How often an Event of events.k8s.io has occurred: nothing for the first time. */
function seriesOf({ count, lastObserved }: EventSeries): object {
  if (count === 1) return {}
  return { series: { count, lastObservedTime: formatMicroTime(instantFromMillis(lastObserved / 1000)) } }
}

/** Whether the server could not be reached, or asks for patience; what it refused, it would refuse again. */
function isWorthRetrying(error: unknown): boolean {
  if (!isApiError(error)) return true
  const guards = [isTooManyRequests, isServiceUnavailable, isServerTimeout, isTimeout, isInternalError]
  return guards.some((guard) => guard(error))
}
