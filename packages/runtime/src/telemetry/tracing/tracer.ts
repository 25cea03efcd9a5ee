import type { Logger } from '@kubewright/base'

/** Attributes of a span. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** A piece of work that is being traced. */
export interface Span {
  set(name: string, value: string | number | boolean): void
  /** Marks the span as failed. An error thrown by the work marks it too. The first failure wins. */
  fail(error: unknown): void
  end(): void
}

/** Options of a span. */
export interface SpanOptions {
  /** How many milliseconds ago the span began. @default 0 */
  readonly startedMillisAgo?: number | undefined
}

/** Creates spans. The default tracer does nothing; `openTelemetryTracer` forwards spans to OpenTelemetry. */
export interface Tracer {
  /** False while spans would do nothing: callers may then call the work directly. @default true */
  readonly isActive?: boolean | undefined
  /** Runs the work within a span and ends the span when the work is done. Spans started by the work become children. */
  span<T>(name: string, attributes: SpanAttributes, work: (span: Span) => T, options?: SpanOptions): T
  /** The logger of a reconcile, which may copy its lines. @default the given one */
  loggerOf?(reconcileID: string, log: Logger): Logger
}

const noSpan: Span = { set() {}, fail() {}, end() {} }

/** A tracer that does nothing. */
export const noTracer: Tracer = { isActive: false, span: (_name, _attributes, work) => work(noSpan) }
