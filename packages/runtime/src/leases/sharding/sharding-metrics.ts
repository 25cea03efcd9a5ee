import type { MetricDefinition } from '@kubewright/base'

/** The metrics of sharding. The label `name` is the prefix of the members' Leases. */
export const shardingMetrics: readonly MetricDefinition[] = Object.freeze([
  {
    name: 'kubewright_sharding_members',
    type: 'gauge',
    help: 'Number of replicas that share the keys, as observed by this replica.',
    labels: ['name'],
  },
  {
    name: 'kubewright_sharding_joined',
    type: 'gauge',
    help: 'Whether this replica holds its share of the keys: 1 if so, otherwise 0.',
    labels: ['name'],
  },
])
