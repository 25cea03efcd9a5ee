import { managerMetrics } from '@kubewright/runtime'

// Those of the process are defined where they are measured.
/** The names of all metrics that an operator has. */
export const knownMetrics: ReadonlySet<string> = new Set([
  ...managerMetrics.map(({ name }) => name),
  'nodejs_eventloop_lag_seconds',
  'nodejs_heap_size_used_bytes',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
])

/** The metrics that an expression is about. */
export function metricsIn(expression: string): string[] {
  return [...expression.matchAll(/([a-z_]+)\{/g)].map(([, name = '']) => name.replace(/_bucket$/, ''))
}
