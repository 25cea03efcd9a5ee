import type { MetricDefinition } from '@kubewright/base'
import { cachedClientMetrics } from '../cluster/cached-client-metrics.ts'
import { controllerMetrics, informerMetrics, workQueueMetrics } from '../controller/controller-metrics.ts'
import { shardingMetrics } from '../leases/sharding/sharding-metrics.ts'
import { objectMetrics } from '../reconcile/object-metrics.ts'
import { eventMetrics } from '../telemetry/events/event-metrics.ts'
import {
  certificateMetrics,
  leaderElectionMetrics,
  restClientDetailMetrics,
  restClientMetrics,
  webhookMetrics,
} from '../telemetry/metrics/runtime-metrics.ts'

/** All metrics of a manager's parts, to be defined in its registry. */
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
