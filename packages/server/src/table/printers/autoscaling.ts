import {
  type MetricSpec,
  type MetricStatus,
  metricText,
} from '../../builtins/autoscaling/horizontal-pod-autoscaler/metric-text.ts'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { columnTexts } from '../column-texts.ts'
import { ageColumn, type Loose, nameColumn, printer, textColumn } from '../columns.ts'
import { ageOf, firstOf } from '../human.ts'

/** An autoscaler of any version; v1 knows CPU only and keeps the rest in annotations. */
interface AnyAutoscaler {
  metadata: { name: string; creationTimestamp: string; annotations: Record<string, string> }
  spec: {
    scaleTargetRef: { kind: string; name: string }
    minReplicas: number
    maxReplicas: number
    metrics: MetricSpec[]
    targetCPUUtilizationPercentage: number
  }
  status: { currentReplicas: number; currentMetrics: MetricStatus[]; currentCPUUtilizationPercentage: number }
}

/** Tables of the group autoscaling. */
export const autoscalingTables: Readonly<Record<string, TableDefinition>> = {
  'autoscaling/horizontalpodautoscalers': printer<AnyAutoscaler>(
    [
      nameColumn,
      textColumn('Reference', columnTexts['HorizontalPodAutoscalerSpec.scaleTargetRef']),
      textColumn('Targets', columnTexts['HorizontalPodAutoscalerSpec.metrics']),
      textColumn('MinPods', columnTexts['HorizontalPodAutoscalerSpec.minReplicas']),
      textColumn('MaxPods', columnTexts['HorizontalPodAutoscalerSpec.maxReplicas']),
      textColumn('Replicas', columnTexts['HorizontalPodAutoscalerStatus.currentReplicas']),
      ageColumn,
    ],
    (autoscaler, now) => {
      const { metadata, spec, status } = autoscaler
      return [
        metadata?.name ?? '',
        `${spec?.scaleTargetRef?.kind ?? ''}/${spec?.scaleTargetRef?.name ?? ''}`,
        targetsText(autoscaler),
        String(spec?.minReplicas ?? '<unset>'),
        spec?.maxReplicas ?? 0,
        status?.currentReplicas ?? 0,
        ageOf(metadata?.creationTimestamp, now),
      ]
    },
  ),
}

function targetsText(autoscaler: Loose<AnyAutoscaler>): string {
  const specs = autoscaler.spec?.metrics ?? specsOfV1(autoscaler)
  const statuses = autoscaler.status?.currentMetrics ?? statusesOfV1(autoscaler)
  const texts = specs.map((spec, i) => metricText(spec, statuses[i]))
  return texts.length === 0 ? '<none>' : firstOf(texts, 2, ', ')
}

function specsOfV1({ metadata, spec }: Loose<AnyAutoscaler>): readonly Loose<MetricSpec>[] {
  const others = listIn<MetricSpec>(metadata?.annotations?.['autoscaling.alpha.kubernetes.io/metrics'])
  const averageUtilization = spec?.targetCPUUtilizationPercentage
  if (typeof averageUtilization !== 'number') return others
  return [...others, { type: 'Resource', resource: { name: 'cpu', target: { averageUtilization } } }]
}

function statusesOfV1({ metadata, status }: Loose<AnyAutoscaler>): readonly Loose<MetricStatus>[] {
  const annotation = metadata?.annotations?.['autoscaling.alpha.kubernetes.io/current-metrics']
  if (annotation) return listIn<MetricStatus>(annotation)
  const averageUtilization = status?.currentCPUUtilizationPercentage
  if (typeof averageUtilization !== 'number') return []
  return [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } }]
}

/** A list in an annotation, which anybody can write: what is no list counts as none. */
function listIn<T>(annotation: string | null | undefined): readonly Loose<T>[] {
  try {
    const value: unknown = JSON.parse(annotation ?? '[]')
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
