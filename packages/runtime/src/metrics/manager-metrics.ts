import { cachedClientMetrics } from '../cluster/cached-client-metrics.ts'
import { controllerMetrics, informerMetrics, workQueueMetrics } from '../controller/controller-metrics.ts'
import { eventMetrics } from '../events/event-metrics.ts'
import { objectMetrics } from '../reconcile/object-metrics.ts'
import { shardingMetrics } from '../sharding/sharding-metrics.ts'
import type { MetricDefinition } from './metric-definition.ts'
import {
  certificateMetrics,
  leaderElectionMetrics,
  restClientDetailMetrics,
  restClientMetrics,
  webhookMetrics,
} from './runtime-metrics.ts'

/** Everything that the parts of a manager measure: what a registry for one is made with. */
export const managerMetrics: readonly MetricDefinition[] = Object.freeze([
  ...controllerMetrics,
  ...workQueueMetrics,
  ...informerMetrics,
  ...objectMetrics,
  ...eventMetrics,
  ...cachedClientMetrics,
  ...restClientMetrics,
  ...restClientDetailMetrics,
  ...leaderElectionMetrics,
  ...shardingMetrics,
  ...webhookMetrics,
  ...certificateMetrics,
])
