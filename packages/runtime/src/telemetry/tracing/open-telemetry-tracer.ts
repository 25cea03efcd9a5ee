import { type Clock, errorText, systemClock } from '@kubewright/base'
import type { Span, SpanAttributes, Tracer } from './tracer.ts'

/** The part of a span of `@opentelemetry/api` that is used. */
export interface OpenTelemetrySpan {
  setAttribute(name: string, value: string | number | boolean): unknown
  recordException(error: Error | string): void
  setStatus(status: { code: number; message?: string }): unknown
  end(): void
}

/** The part of `@opentelemetry/api` that is used: pass the module itself. */
export interface OpenTelemetryApi {
  readonly trace: {
    getTracer(
      name: string,
      version?: string,
    ): {
      startActiveSpan<T>(
        name: string,
        options: { kind?: number; attributes?: Record<string, string | number | boolean>; startTime?: number },
        work: (span: OpenTelemetrySpan) => T,
      ): T
    }
  }
}

/** What {@link openTelemetryTracer} takes besides the API. */
export interface OpenTelemetryTracerOptions {
  /** Under which the spans are known. @default 'kubewright' */
  readonly name?: string
  /** @default the system's */
  readonly clock?: Clock
}

// SpanStatusCode.ERROR, SpanKind.INTERNAL, SERVER and CLIENT of the API, which are numbers there too.
const failed = 2
const kinds = { internal: 0, server: 1, client: 2 } as const

/**
 * Hands spans to OpenTelemetry. Where they go is up to the SDK that the program has registered; without one they cost next to nothing.
 * The module is passed in, because most operators do without it.
 *
 * @example
 * import * as api from '@opentelemetry/api'
 * await run(operator, { tracer: openTelemetryTracer(api) })
 */
export function openTelemetryTracer(api: OpenTelemetryApi, options: OpenTelemetryTracerOptions = {}): Tracer {
  const { name = 'kubewright', clock = systemClock } = options
  const tracer = api.trace.getTracer(name)
  return {
    span: (spanName, attributes, work, { startedMillisAgo } = {}) => {
      const start = startedMillisAgo === undefined ? {} : { startTime: clock.now() - startedMillisAgo }
      const spanOptions = { kind: kindOf(attributes), attributes: { ...attributes }, ...start }
      return tracer.startActiveSpan(spanName, spanOptions, (span) => runWithin(span, work))
    },
  }
}

/** Requests and the answers to them are told apart by the attributes that only they have. */
function kindOf(attributes: SpanAttributes): number {
  if ('webhook.path' in attributes) return kinds.server
  return 'http.request.method' in attributes ? kinds.client : kinds.internal
}

function runWithin<T>(inner: OpenTelemetrySpan, work: (span: Span) => T): T {
  let hasEnded = false
  let hasFailed = false
  const span: Span = {
    set: (name, value) => void inner.setAttribute(name, value),
    fail: (error) => {
      // The work may say so itself and throw as well.
      if (hasFailed) return
      hasFailed = true
      inner.recordException(error instanceof Error ? error : String(error))
      inner.setStatus({ code: failed, message: errorText(error) })
    },
    end: () => {
      if (!hasEnded) inner.end()
      hasEnded = true
    },
  }
  const failAndEnd = (error: unknown): void => {
    span.fail(error)
    span.end()
  }
  let result: T
  try {
    result = work(span)
  } catch (error) {
    failAndEnd(error)
    throw error
  }
  if (!isPromise(result)) {
    span.end()
    return result
  }
  // Watched from the side: the caller gets the very promise that the work returned.
  result.then(() => span.end(), failAndEnd)
  return result
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
