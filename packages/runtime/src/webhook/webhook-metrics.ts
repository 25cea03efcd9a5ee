import type { MetricLabels, MetricSink } from '@kubewright/base'

/** The metric names of webhook servers, as in controller-runtime. The label `webhook` is the path. */
export const webhookMetricNames: {
  readonly latency: 'controller_runtime_webhook_latency_seconds'
  readonly requests: 'controller_runtime_webhook_requests_total'
  readonly inFlight: 'controller_runtime_webhook_requests_in_flight'
  readonly panics: 'controller_runtime_webhook_panics_total'
  readonly conversionPanics: 'controller_runtime_conversion_webhook_panics_total'
} = Object.freeze({
  latency: 'controller_runtime_webhook_latency_seconds',
  requests: 'controller_runtime_webhook_requests_total',
  inFlight: 'controller_runtime_webhook_requests_in_flight',
  panics: 'controller_runtime_webhook_panics_total',
  conversionPanics: 'controller_runtime_conversion_webhook_panics_total',
})

const noLabels: MetricLabels = Object.freeze({})

/** Reports the metrics of one path of a webhook server. */
export class WebhookMetrics {
  readonly #sink: MetricSink | undefined
  readonly #webhook: MetricLabels
  readonly #byCode = new Map<number, MetricLabels>()
  #inFlight = 0

  constructor(sink: MetricSink | undefined, path: string) {
    this.#sink = sink
    this.#webhook = Object.freeze({ webhook: path })
    // Created at zero, so that rates include the first request.
    for (const code of [200, 500]) sink?.add(webhookMetricNames.requests, this.#codeLabels(code), 0)
    sink?.set(webhookMetricNames.inFlight, this.#webhook, 0)
    sink?.add(webhookMetricNames.panics, noLabels, 0)
  }

  started(): void {
    this.#sink?.set(webhookMetricNames.inFlight, this.#webhook, ++this.#inFlight)
  }

  ended(code: number, millis: number): void {
    this.#sink?.set(webhookMetricNames.inFlight, this.#webhook, --this.#inFlight)
    this.#sink?.add(webhookMetricNames.requests, this.#codeLabels(code), 1)
    this.#sink?.observe(webhookMetricNames.latency, this.#webhook, millis / 1000)
  }

  /** Counts a programming error in a webhook. */
  panicked(): void {
    this.#sink?.add(webhookMetricNames.panics, noLabels, 1)
  }

  conversionPanicked(): void {
    this.#sink?.add(webhookMetricNames.conversionPanics, noLabels, 1)
  }

  #codeLabels(code: number): MetricLabels {
    let labels = this.#byCode.get(code)
    if (labels === undefined) {
      labels = Object.freeze({ ...this.#webhook, code: String(code) })
      this.#byCode.set(code, labels)
    }
    return labels
  }
}
