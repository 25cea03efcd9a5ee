import { managerMetrics } from '@kubewright/runtime'

// Process metrics are not part of the tables.
/** The names of all metrics of an operator. */
export const knownMetrics: ReadonlySet<string> = new Set([
  ...managerMetrics.map(({ name }) => name),
  'nodejs_eventloop_lag_seconds',
  'nodejs_heap_size_used_bytes',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
])

/** The names of metrics in an expression. */
export function metricsIn(expression: string): string[] {
  return [...expression.matchAll(/([a-z_]+)\{/g)].map(([, name = '']) => name.replace(/_bucket$/, ''))
}
