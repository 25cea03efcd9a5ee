import type { MetricDefinition } from '@kubewright/base'

/** The name of the counter of recorded Events. */
export const eventMetricName = 'kubewright_events_total'

/**
 * The outcome of an Event: `created`; `repeated`: counted in a series; `filtered`: the limit of its object was reached;
 * `dropped`: too many Events were waiting, or the deadline passed; `failed`: the server rejected it or was unreachable.
 */
export type EventResult = 'created' | 'repeated' | 'filtered' | 'dropped' | 'failed'

/** The metrics of Event recorders. */
export const eventMetrics: readonly MetricDefinition[] = Object.freeze([
  {
    name: eventMetricName,
    type: 'counter',
    help: 'Number of recorded Events, by outcome.',
    labels: ['result'],
  },
])
