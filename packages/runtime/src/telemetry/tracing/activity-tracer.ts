import { AsyncLocalStorage } from 'node:async_hooks'
import { type Clock, errorText, type Logger } from '@kubewright/base'
import { CopyingLogger, type TracedLine } from './copying-logger.ts'
import { noTracer, type Span, type SpanAttributes, type SpanOptions, type Tracer } from './tracer.ts'

/** A request to the API server that a reconcile sent. */
export interface TracedRequest {
  readonly method: string
  readonly path: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** Absent while the request is in flight. */
  durationMillis?: number | undefined
  error?: string | undefined
}

/** A call of a webhook that this process serves. */
export interface TracedCall {
  readonly path: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  durationMillis?: number | undefined
  error?: string | undefined
  /** The answer of an admission webhook. */
  allowed?: boolean | undefined
  message?: string | undefined
}

// How long one look keeps the recording on. Viewers look more than once per second.
const watchMillis = 30_000
const maxReconciles = 500
const maxRequests = 100
const maxCalls = 100
const maxLines = 100

/**
 * Records the requests and log lines of reconciles and the calls of webhooks while a viewer reads the debug report, and passes all spans on to another
 * tracer. Without a viewer, the only cost is reading the clock.
 */
export class ActivityTracer implements Tracer {
  readonly #inner: Tracer
  readonly #clock: Clock
  readonly #current = new AsyncLocalStorage<TracedRequest[]>()
  /** The requests by reconcile ID, oldest reconcile first. */
  readonly #requests = new Map<string, TracedRequest[]>()
  /** The log lines by reconcile ID, oldest reconcile first. */
  readonly #lines = new Map<string, (TracedLine & { readonly time: number })[]>()
  readonly #calls: TracedCall[] = []
  #watchedUntil = Number.NEGATIVE_INFINITY

  constructor(inner: Tracer, clock: Clock) {
    this.#inner = inner
    this.#clock = clock
  }

  get isActive(): boolean {
    return this.#inner !== noTracer || this.#isWatched
  }

  get #isWatched(): boolean {
    return this.#clock.monotonic() < this.#watchedUntil
  }

  /** Records for the next 30 seconds. */
  watch(): void {
    this.#watchedUntil = this.#clock.monotonic() + watchMillis
  }

  /** The requests of a reconcile; undefined if it was not recorded. */
  requestsOf(reconcileID: string): readonly TracedRequest[] | undefined {
    return this.#requests.get(reconcileID)
  }

  /** The first 100 log lines of a reconcile; undefined if it wrote none while it was recorded. */
  linesOf(reconcileID: string): readonly (TracedLine & { readonly time: number })[] | undefined {
    return this.#lines.get(reconcileID)
  }

  loggerOf(reconcileID: string, log: Logger): Logger {
    if (!this.#isWatched) return log
    const lines: (TracedLine & { readonly time: number })[] = []
    return new CopyingLogger(log, (line) => {
      if (lines.length === 0) keep(this.#lines, reconcileID, lines)
      if (lines.length < maxLines) lines.push({ ...line, time: this.#clock.now() })
    })
  }

  /** The last calls of webhooks, newest first. */
  get calls(): readonly TracedCall[] {
    return this.#calls.toReversed()
  }

  span<T>(name: string, attributes: SpanAttributes, work: (span: Span) => T, options?: SpanOptions): T {
    if (!this.#isWatched) return this.#inner.span(name, attributes, work, options)
    return this.#inner.span(name, attributes, (span) => this.#record(name, attributes, () => work(span)), options)
  }

  #record<T>(name: string, attributes: SpanAttributes, work: () => T): T {
    if (name === 'reconcile') return this.#current.run(this.#list(String(attributes['reconcile.id'])), work)
    const startedAt = this.#clock.now()
    if (name === 'webhook') {
      const call: TracedCall = { path: String(attributes['webhook.path']), startedAt }
      if (this.#calls.push(call) > maxCalls) this.#calls.shift()
      return this.#timed(call, work, (response) => Object.assign(call, answerOf(response)))
    }
    const list = this.#current.getStore()
    const method = attributes['http.request.method']
    if (list === undefined || method === undefined || list.length >= maxRequests) return work()
    const request: TracedRequest = { method: String(method), path: String(attributes['url.path']), startedAt }
    list.push(request)
    return this.#timed(request, work)
  }

  #list(reconcileID: string): TracedRequest[] {
    const list: TracedRequest[] = []
    keep(this.#requests, reconcileID, list)
    return list
  }

  /** Runs the work and completes its entry when it has ended. */
  #timed<T>(
    entry: TracedRequest | TracedCall,
    work: () => T,
    onResult: (result: unknown) => void = () => undefined,
  ): T {
    const started = this.#clock.monotonic()
    const end = (error?: unknown): void => {
      entry.durationMillis = this.#clock.monotonic() - started
      if (error !== undefined) entry.error = errorText(error)
    }
    const result = work()
    if (!(result instanceof Promise)) {
      end()
      onResult(result)
      return result
    }
    // A branch of its own: the caller handles a rejection of the result.
    void result.then(
      (value: unknown) => {
        end()
        onResult(value)
      },
      (error: unknown) => end(error ?? 'failed'),
    )
    return result
  }
}

/** Adds the entry of a reconcile, and drops the oldest one beyond the limit. */
function keep<T>(entries: Map<string, T>, reconcileID: string, entry: T): void {
  entries.set(reconcileID, entry)
  const [oldest] = entries.keys()
  if (entries.size > maxReconciles && oldest !== undefined) entries.delete(oldest)
}

/** The answer in the response of an admission webhook. */
function answerOf(response: unknown): Pick<TracedCall, 'allowed' | 'message'> {
  const { body } = (response ?? {}) as { readonly body?: unknown }
  try {
    const review = JSON.parse(String(body)) as {
      readonly response?:
        | { readonly allowed?: unknown; readonly status?: { readonly message?: unknown } | undefined }
        | undefined
    }
    const { allowed, status } = review.response ?? {}
    return {
      ...(typeof allowed === 'boolean' ? { allowed } : {}),
      ...(typeof status?.message === 'string' ? { message: status.message } : {}),
    }
  } catch {
    return {}
  }
}
