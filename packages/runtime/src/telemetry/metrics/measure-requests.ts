import type { MetricLabels, MetricSink } from '@kubewright/base'
import type { RequestAttempt } from '@kubewright/client'

/** Options of {@link measureRequests}. */
export interface MeasureRequestsOptions {
  /** Whether to measure durations, sizes and retries too: a histogram for each verb and host. @default false */
  readonly details?: boolean | undefined
}

/** Counts the requests of a client; pass the result as the client's `onResponse` option. */
export function measureRequests(
  sink: MetricSink,
  { details = false }: MeasureRequestsOptions = {},
): (attempt: RequestAttempt) => void {
  const known = new Map<string, MetricLabels>()
  // Sinks look up a series by the identity of its labels object, so each combination has exactly one object.
  const labels = (key: string, make: () => Record<string, string>): MetricLabels => {
    let found = known.get(key)
    if (found === undefined) known.set(key, (found = Object.freeze(make())))
    return found
  }
  return ({ method, host: server, status, attempt, durationMillis, requestBytes }) => {
    // As in client-go, the label is the host of the URL.
    const host = server.replace(/^https?:\/\//, '')
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
