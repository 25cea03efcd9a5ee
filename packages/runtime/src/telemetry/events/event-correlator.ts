import type { KubeObject } from '@kubewright/api'
import type { Clock } from '@kubewright/base'
import { type EventDraft, type EventReporter, eventDraft, eventName } from './event-draft.ts'
import type { EventNote } from './event-recorder.ts'

/** An Event and its number of occurrences. */
export interface EventSeries {
  draft: EventDraft
  readonly api: 'events.k8s.io/v1' | 'v1'
  count: number
  /** Microseconds since the epoch. */
  readonly firstObserved: number
  /** Microseconds since the epoch. */
  lastObserved: number
  /** The count that was last written to the server; 0 before the create. */
  writtenCount: number
  /** Monotonic time of the last write, in milliseconds. */
  lastWrite: number
  /** Whether a create failed without a response, so that the Event may exist. */
  mayExist: boolean
  /** Whether the series is in the recorder's queue. */
  queued: boolean
}

// The times and limits of client-go's recorders.
const finishAfter = 6 * 60_000
const refreshAfter = 30 * 60_000
const burst = 25
const refillPeriod = 300_000
const maxSimilar = 9
const similarWindow = 10 * 60_000
const maxEntries = 4096

/**
 * Decides which occurrences of Events are written:
 * - Equal Events become one series. It is written at the first repetition, whenever its count has doubled, after half
 *   an hour, and when it ends, which is after six minutes without a repetition. Events of v1 are written at each
 *   repetition.
 * - When more than nine Events within ten minutes differ in their message only, the further ones are combined into one
 *   series.
 * - An object may have 25 Events at once and one more every five minutes. Further ones are dropped.
 */
export class EventCorrelator {
  readonly #clock: Clock
  readonly #reporter: EventReporter
  // Ordered by last occurrence.
  readonly #series = new Map<string, EventSeries & { seen: number }>()
  readonly #similar = new Map<string, { readonly notes: Set<string>; seen: number }>()
  readonly #buckets = new Map<string, { tokens: number; seen: number }>()
  #serial = 0n

  constructor(clock: Clock, reporter: EventReporter) {
    this.#clock = clock
    this.#reporter = reporter
  }

  /** The series of an occurrence and whether to write it now; undefined when it is filtered out. */
  observe(
    regarding: KubeObject,
    note: EventNote,
  ): { readonly series: EventSeries; readonly write: boolean } | undefined {
    const now = this.#clock.monotonic()
    const about = `${regarding.apiVersion} ${regarding.kind} ${regarding.metadata.uid} ${regarding.metadata.name}`
    const group = JSON.stringify([
      about,
      note.component,
      note.type,
      note.reason,
      note.action,
      note.related?.metadata.uid,
    ])
    const combined = this.#isOneOfMany(group, note.message, now)
    const identity = combined ? group : `${group} ${note.message}`
    const known = this.#series.get(identity)
    if (known !== undefined && now - known.seen < finishAfter) {
      known.count++
      known.lastObserved = this.#clock.nowMicros()
      known.seen = now
      this.#series.delete(identity)
      this.#series.set(identity, known)
      // Every repetition of a v1 Event is written, within the limit of its object.
      if (known.api === 'v1') return this.#takeToken(about, now) ? { series: known, write: true } : undefined
      return { series: known, write: known.count >= 2 * known.writtenCount || now - known.lastWrite >= refreshAfter }
    }
    if (!this.#takeToken(about, now)) return undefined
    const message = combined ? `(combined from similar events): ${note.message}` : note.message
    const micros = this.#clock.nowMicros()
    const draft = eventDraft(regarding, { ...note, message }, this.#reporter, micros, this.#nextSerial(micros))
    const series = {
      draft,
      api: note.api ?? 'events.k8s.io/v1',
      count: 1,
      firstObserved: micros,
      lastObserved: micros,
      writtenCount: 0,
      lastWrite: now,
      mayExist: false,
      queued: false,
      seen: now,
    }
    this.#series.delete(identity)
    insert(this.#series, identity, series)
    return { series, write: true }
  }

  /** Ends the series that have not occurred recently. Returns those whose count on the server is outdated. */
  finish(): EventSeries[] {
    const now = this.#clock.monotonic()
    const unwritten: EventSeries[] = []
    for (const [identity, series] of this.#series) {
      if (now - series.seen < finishAfter) break
      this.#series.delete(identity)
      if (isOutdated(series)) unwritten.push(series)
    }
    return unwritten
  }

  /** All series whose count on the server is outdated. */
  unwritten(): EventSeries[] {
    return [...this.#series.values()].filter(isOutdated)
  }

  /**
   * Whole milliseconds until the next series ends; undefined when there is none. Rounded up: the sum of fractions is not
   * exact, and a timer that is due a moment too early would be set again without time passing.
   */
  untilFinish(): number | undefined {
    for (const { seen } of this.#series.values())
      return Math.max(1, Math.ceil(seen + finishAfter - this.#clock.monotonic()))
    return undefined
  }

  #isOneOfMany(group: string, message: string, now: number): boolean {
    let similar = this.#similar.get(group)
    if (similar === undefined || now - similar.seen > similarWindow) {
      similar = { notes: new Set(), seen: now }
      this.#similar.delete(group)
      insert(this.#similar, group, similar)
    }
    similar.seen = now
    if (similar.notes.size >= maxSimilar) return !similar.notes.has(message)
    similar.notes.add(message)
    return false
  }

  #takeToken(about: string, now: number): boolean {
    const bucket = this.#buckets.get(about) ?? { tokens: burst, seen: now }
    bucket.tokens = Math.min(burst, bucket.tokens + (now - bucket.seen) / refillPeriod)
    bucket.seen = now
    this.#buckets.delete(about)
    insert(this.#buckets, about, bucket)
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }

  // Names end with the time in nanoseconds, as client-go's do. A second Event at the same time gets the next
  // nanosecond.
  /** Gives the Event another name, because another recorder has used its name in the same microsecond. */
  rename(series: EventSeries): void {
    const { draft, firstObserved } = series
    series.draft = {
      ...draft,
      metadata: { ...draft.metadata, name: eventName(draft.regarding.name, this.#nextSerial(firstObserved)) },
    }
  }

  #nextSerial(micros: number): bigint {
    const time = BigInt(micros) * 1000n
    this.#serial = time > this.#serial ? time : this.#serial + 1n
    return this.#serial
  }
}

// A series that was never written has failed, and was counted as such.
function isOutdated({ count, writtenCount }: EventSeries): boolean {
  return writtenCount > 0 && count > writtenCount
}

/** Inserts an entry and, when the map is full, evicts the least recently used one. */
function insert<V>(map: Map<string, V>, key: string, value: V): void {
  if (map.size >= maxEntries) {
    for (const oldest of map.keys()) {
      map.delete(oldest)
      break
    }
  }
  map.set(key, value)
}
