// Metrics and traces of an operator.
export {
  createMetricRegistry,
  defaultBuckets,
  exponentialBuckets,
  type MetricDefinition,
  type MetricLabels,
  type MetricRegistry,
  type MetricSink,
  managerMetrics,
  type OpenTelemetryApi,
  type OpenTelemetryTracerOptions,
  openTelemetryTracer,
  type Span,
  type Tracer,
} from '@kubewright/runtime'
