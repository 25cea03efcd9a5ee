import type * as autoscaling from '@kubewright/k8s/autoscaling/v2'
import type { Unchecked } from '../../typed/unchecked.ts'

/** The spec of a HorizontalPodAutoscaler in v2, the version for storage and validation. */
export type HpaSpec = Unchecked<autoscaling.HorizontalPodAutoscalerSpec>
/** The status of a HorizontalPodAutoscaler in v2. */
export type HpaStatus = Unchecked<autoscaling.HorizontalPodAutoscalerStatus>
/** A metric and its target. */
export type MetricSpec = NonNullable<HpaSpec['metrics']>[number]
/** A metric and its current value. */
export type MetricStatus = NonNullable<HpaStatus['currentMetrics']>[number]
/** The target value of a metric. */
export type MetricTarget = NonNullable<NonNullable<MetricSpec['resource']>['target']>
/** The rules for scaling in one direction. */
export type ScalingRules = NonNullable<NonNullable<HpaSpec['behavior']>['scaleUp']>
