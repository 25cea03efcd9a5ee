import { type Clock, errorText, systemClock } from '@kubewright/base'
import type { Span, SpanAttributes, Tracer } from './tracer.ts'

/** The subset of a span of `@opentelemetry/api` that the tracer uses. */
export interface OpenTelemetrySpan {
  setAttribute(name: string, value: string | number | boolean): unknown
  recordException(error: Error | string): void
  setStatus(status: { code: number; message?: string | undefined }): unknown
  end(): void
}

/** The subset of `@opentelemetry/api` that the tracer uses. Pass the module itself. */
export interface OpenTelemetryApi {
  readonly trace: {
    getTracer(
      name: string,
      version?: string,
    ): {
      startActiveSpan<T>(
        name: string,
        options: {
          kind?: number | undefined
          attributes?: Record<string, string | number | boolean> | undefined
          startTime?: number | undefined
        },
        work: (span: OpenTelemetrySpan) => T,
      ): T
    }
  }
}

/** Options of {@link openTelemetryTracer}. */
export interface OpenTelemetryTracerOptions {
  /** The name of the instrumentation scope. @default 'kubewright' */
  readonly name?: string | undefined
  /** @default the system clock */
  readonly clock?: Clock | undefined
}

// The values of SpanStatusCode.ERROR and of SpanKind.INTERNAL, SERVER and CLIENT.
const failed = 2
const kinds = { internal: 0, server: 1, client: 2 } as const

/**
 * Forwards spans to OpenTelemetry. The SDK that the program has registered exports them; without an SDK they cost
 * almost nothing. The module is a parameter because most operators do not depend on it.
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

/** Derives the span kind from the attributes: only served webhooks and client requests have these. */
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
      // The work may call fail() and throw as well: only the first failure is recorded.
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
  // Observes the promise without replacing it: the caller gets the very promise that the work returned.
  result.then(() => span.end(), failAndEnd)
  return result
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
