import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, type Loose, nameColumn, textColumn } from '../../../table/columns.ts'
import { firstOf } from '../../../table/human.ts'
import { type MetricSpec, type MetricStatus, metricText } from './metric-text.ts'

/** An autoscaler of any version; v1 has a field for CPU only and keeps all other metrics in annotations. */
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

/** The columns of HorizontalPodAutoscalers. */
export const hpaTable: TableDefinition = defineTable<AnyAutoscaler>([
  nameColumn,
  textColumn(
    'Reference',
    'Kind and name of the object that is scaled.',
    ({ spec }) => `${spec?.scaleTargetRef?.kind ?? ''}/${spec?.scaleTargetRef?.name ?? ''}`,
  ),
  textColumn('Targets', 'Current and target values of the metrics.', targetsText),
  textColumn('MinPods', 'Lower limit of the replicas.', ({ spec }) => String(spec?.minReplicas ?? '<unset>')),
  textColumn('MaxPods', 'Upper limit of the replicas.', ({ spec }) => spec?.maxReplicas ?? 0),
  textColumn('Replicas', 'Current number of replicas.', ({ status }) => status?.currentReplicas ?? 0),
  ageColumn,
])

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

/** Parses a list in an annotation. Any client can write the annotation, so a malformed value counts as an empty list. */
function listIn<T>(annotation: string | null | undefined): readonly Loose<T>[] {
  try {
    const value: unknown = JSON.parse(annotation ?? '[]')
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}
