import type { MetricDefinition } from '@kubewright/base'

/** The name under which recorded Events are counted. */
export const eventMetricName = 'kubewright_events_total'

/**
 * What became of an Event: `created`; `repeated`, counted in a series; `filtered`, as its object has had too many; `dropped`, as
 * too many were waiting or time ran out; `failed`, as the server refused it or could not be reached.
 */
export type EventResult = 'created' | 'repeated' | 'filtered' | 'dropped' | 'failed'

/** What recorders of Events measure. */
export const eventMetrics: readonly MetricDefinition[] = Object.freeze([
  {
    name: eventMetricName,
    type: 'counter',
    help: 'Events that were recorded, by what became of them.',
    labels: ['result'],
  },
])
