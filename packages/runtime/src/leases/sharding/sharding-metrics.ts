import type { MetricDefinition } from '@kubewright/base'

/** What is measured about the sharing of keys. `name` is what the names of the members' Leases begin with. */
export const shardingMetrics: readonly MetricDefinition[] = Object.freeze([
  {
    name: 'kubewright_sharding_members',
    type: 'gauge',
    help: 'Number of replicas that share the keys, as this one sees it.',
    labels: ['name'],
  },
  {
    name: 'kubewright_sharding_joined',
    type: 'gauge',
    help: 'Whether this replica holds its share of the keys: 1 if so, else 0.',
    labels: ['name'],
  },
])
