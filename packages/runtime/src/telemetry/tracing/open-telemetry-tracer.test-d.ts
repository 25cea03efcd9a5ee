import { openTelemetryTracer } from './open-telemetry-tracer.ts'

// The shape of the real API: overloads, a generic over the function, numeric enums, attribute values that may be
// arrays.
declare enum Kind {
  Internal = 0,
  Server = 1,
  Client = 2,
}
declare enum StatusCode {
  Unset = 0,
  Ok = 1,
  Error = 2,
}
type AttributeValue = string | number | boolean | (null | undefined | string)[]
interface RealSpan {
  spanContext(): { traceId: string; spanId: string }
  setAttribute(key: string, value: AttributeValue): this
  setStatus(status: { code: StatusCode; message?: string }): this
  recordException(exception: string | { name?: string; message: string; stack?: string }, time?: number): void
  end(endTime?: number): void
}
interface RealOptions {
  kind?: Kind
  startTime?: number | Date | [number, number]
  attributes?: { [key: string]: AttributeValue | undefined }
  links?: { context: object }[]
  root?: boolean
}
interface RealTracer {
  startSpan(name: string, options?: RealOptions, context?: object): RealSpan
  startActiveSpan<F extends (span: RealSpan) => unknown>(name: string, work: F): ReturnType<F>
  startActiveSpan<F extends (span: RealSpan) => unknown>(name: string, options: RealOptions, work: F): ReturnType<F>
  startActiveSpan<F extends (span: RealSpan) => unknown>(
    name: string,
    options: RealOptions,
    context: object,
    work: F,
  ): ReturnType<F>
}
declare const api: {
  trace: {
    getTracer(name: string, version?: string, options?: { schemaUrl?: string }): RealTracer
    getActiveSpan(): RealSpan | undefined
  }
}

openTelemetryTracer(api)
