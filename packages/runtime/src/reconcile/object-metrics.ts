import type { MetricDefinition } from '@kubewright/base'

/** The metric names of object controllers. */
export const objectMetricNames: {
  readonly applies: 'kubewright_child_applies_total'
  readonly statuses: 'kubewright_status_writes_total'
} = Object.freeze({
  applies: 'kubewright_child_applies_total',
  statuses: 'kubewright_status_writes_total',
})

/** The metrics of object controllers. */
export const objectMetrics: readonly MetricDefinition[] = Object.freeze([
  {
    name: objectMetricNames.applies,
    type: 'counter',
    help: 'Number of children that reconciles applied, by result: written (sent to the server), unchanged (nothing would change), refused (the object has another controller or none).',
    labels: ['controller', 'result'],
  },
  {
    name: objectMetricNames.statuses,
    type: 'counter',
    help: 'Number of statuses that reconciles returned, by result: written (sent to the server), unchanged (nothing would change).',
    labels: ['controller', 'result'],
  },
])
