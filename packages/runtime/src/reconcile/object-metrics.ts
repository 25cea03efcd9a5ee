import type { MetricDefinition } from '@kubewright/base'

/** The names under which the writes of object controllers are counted. */
export const objectMetricNames: {
  readonly applies: 'kubewright_child_applies_total'
  readonly statuses: 'kubewright_status_writes_total'
} = Object.freeze({
  applies: 'kubewright_child_applies_total',
  statuses: 'kubewright_status_writes_total',
})

/** What object controllers measure. */
export const objectMetrics: readonly MetricDefinition[] = Object.freeze([
  {
    name: objectMetricNames.applies,
    type: 'counter',
    help: 'Children that reconciles applied, by whether the server had to be asked (written), nothing would have changed (unchanged), or the object belongs to somebody else (refused).',
    labels: ['controller', 'result'],
  },
  {
    name: objectMetricNames.statuses,
    type: 'counter',
    help: 'Statuses that reconciles returned, by whether the server had to be asked (written) or nothing would have changed (unchanged).',
    labels: ['controller', 'result'],
  },
])
