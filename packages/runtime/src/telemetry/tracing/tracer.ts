/** Attributes of a span. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

/** A piece of work that is being traced. */
export interface Span {
  set(name: string, value: string | number | boolean): void
  /** Marks the span as failed. What work throws marks it too; the first failure counts. */
  fail(error: unknown): void
  end(): void
}

/** How a span differs from one that begins now. */
export interface SpanOptions {
  /** The span began so many milliseconds before. @default 0 */
  readonly startedMillisAgo?: number
}

/** Where spans come from. The default one does nothing; `openTelemetryTracer` hands them to OpenTelemetry's API. */
export interface Tracer {
  /** Runs the work within a span, so that spans started inside become its children; ends it when the work is done. */
  span<T>(name: string, attributes: SpanAttributes, work: (span: Span) => T, options?: SpanOptions): T
}

const noSpan: Span = { set() {}, fail() {}, end() {} }

/** Traces nothing. */
export const noTracer: Tracer = { span: (_name, _attributes, work) => work(noSpan) }
