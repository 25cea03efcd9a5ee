import type { BuiltinTable } from '../builtin-resources.ts'
import {
  horizontalPodAutoscalers,
  horizontalPodAutoscalersV1,
} from './horizontal-pod-autoscaler/horizontal-pod-autoscaler.ts'

/** The resources of the autoscaling group. */
export const autoscalingResources: BuiltinTable = {
  'autoscaling/horizontalpodautoscalers': horizontalPodAutoscalers,
  'autoscaling/v1/horizontalpodautoscalers': horizontalPodAutoscalersV1,
}
