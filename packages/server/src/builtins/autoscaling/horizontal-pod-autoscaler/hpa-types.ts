import type * as autoscaling from '@kubewright/k8s/autoscaling/v2'
import type { Unchecked } from '../../typed/unchecked.ts'

/** The spec of a HorizontalPodAutoscaler in v2, the version for storage and validation. */
export type HpaSpec = Unchecked<autoscaling.HorizontalPodAutoscalerSpec>
export type HpaStatus = Unchecked<autoscaling.HorizontalPodAutoscalerStatus>
export type MetricSpec = NonNullable<HpaSpec['metrics']>[number]
export type MetricStatus = NonNullable<HpaStatus['currentMetrics']>[number]
export type MetricTarget = NonNullable<NonNullable<MetricSpec['resource']>['target']>
export type ScalingRules = NonNullable<NonNullable<HpaSpec['behavior']>['scaleUp']>
