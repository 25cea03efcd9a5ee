import type { MetricLabels, MetricSink } from '@kubewright/base'
import type { RequestAttempt } from '@kubewright/client'

/** What {@link measureRequests} takes. */
export interface MeasureRequestsOptions {
  /** Also measures durations, sizes and retries: a histogram for each verb and host. @default false */
  readonly details?: boolean
}

/** Counts the requests of a client: what its option `onResponse` takes. */
export function measureRequests(
  sink: MetricSink,
  { details = false }: MeasureRequestsOptions = {},
): (attempt: RequestAttempt) => void {
  const known = new Map<string, MetricLabels>()
  // Sinks find a series by its labels object, so each combination has one.
  const labels = (key: string, make: () => Record<string, string>): MetricLabels => {
    let found = known.get(key)
    if (found === undefined) known.set(key, (found = Object.freeze(make())))
    return found
  }
  return ({ method, host, status, attempt, durationMillis, requestBytes }) => {
    const code = status === undefined ? '<error>' : String(status)
    const series = labels(`${code} ${method} ${host}`, () => ({ code, method, host }))
    sink.add('rest_client_requests_total', series, 1)
    if (!details) return
    const byVerb = labels(`${method} ${host}`, () => ({ verb: method, host }))
    sink.observe('rest_client_request_duration_seconds', byVerb, durationMillis / 1000)
    sink.observe('rest_client_request_size_bytes', byVerb, requestBytes)
    if (attempt > 1) {
      const retried = labels(`retry ${code} ${method} ${host}`, () => ({ code, verb: method, host }))
      sink.add('rest_client_request_retries_total', retried, 1)
    }
  }
}
