import { deepCopy } from '@kubewright/base'
import type { MutableObject } from '../../../resource/object.ts'
import {
  type MetricV1,
  metricSpecFromV1,
  metricSpecToV1,
  metricStatusFromV1,
  metricStatusToV1,
} from './hpa-metrics-v1.ts'
import type { HpaSpec, HpaStatus, MetricSpec, MetricStatus, ScalingRules } from './hpa-types.ts'

const prefix = 'autoscaling.alpha.kubernetes.io/'
const metricsKey = `${prefix}metrics`
const currentMetricsKey = `${prefix}current-metrics`
const conditionsKey = `${prefix}conditions`
const behaviorKey = `${prefix}behavior`
const reservedKeys = [
  metricsKey,
  currentMetricsKey,
  conditionsKey,
  behaviorKey,
  `${prefix}scale-down-tolerance`,
  `${prefix}scale-up-tolerance`,
]
/** The default target for the CPU utilization, in per cent. */
export const defaultCpuUtilization = 80

interface SpecV1 {
  scaleTargetRef?: HpaSpec['scaleTargetRef'] | undefined
  minReplicas?: number | undefined
  maxReplicas?: number | undefined
  targetCPUUtilizationPercentage?: number | undefined
}

type StatusV1 = Omit<HpaStatus, 'currentMetrics' | 'conditions'> & {
  currentCPUUtilizationPercentage?: number | undefined
}
type Conditions = NonNullable<HpaStatus['conditions']>

/** Removes the annotations in which autoscaling/v1 stores the fields that exist only in autoscaling/v2. */
export function dropConversionAnnotations({ metadata }: MutableObject): void {
  const { annotations } = metadata
  if (!annotations) return
  for (const key of reservedKeys) delete annotations[key]
  if (Object.keys(annotations).length === 0) delete metadata.annotations
}

/** Builds the v2 metric for `targetCPUUtilizationPercentage`, the only metric with a field in v1. */
export function cpuMetric(averageUtilization: number): MetricSpec {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } }
}

function isCpuUtilization({ type, resource }: MetricSpec): boolean {
  return type === 'Resource' && resource?.name === 'cpu' && resource.target?.averageUtilization !== undefined
}

/** Converts an autoscaler from v1 to v2. Does not change its argument. */
export function hpaToV2(object: MutableObject): MutableObject {
  const result = deepCopy(object)
  result.apiVersion = 'autoscaling/v2'
  const annotations = result.metadata.annotations ?? {}
  const { targetCPUUtilizationPercentage: target, ...spec } = (object['spec'] ?? {}) as SpecV1
  const { currentCPUUtilizationPercentage: current, ...status } = (object['status'] ?? {}) as StatusV1
  const others = parseList<MetricV1>(annotations[metricsKey])
  const metrics = [...(others ?? []).map(metricSpecFromV1), ...(target === undefined ? [] : [cpuMetric(target)])]
  const behavior = parseBehavior(annotations[behaviorKey])
  result['spec'] = {
    ...spec,
    metrics: metrics.length > 0 ? metrics : [cpuMetric(defaultCpuUtilization)],
    ...(behavior ? { behavior } : {}),
  }
  const reported = parseList<MetricV1>(annotations[currentMetricsKey])?.map(metricStatusFromV1)
  const currentMetrics = reported ?? (current === undefined ? undefined : [cpuStatus(current)])
  const conditions = parseList<Conditions[number]>(annotations[conditionsKey])
  result['status'] = { ...status, ...(currentMetrics ? { currentMetrics } : {}), ...(conditions ? { conditions } : {}) }
  dropConversionAnnotations(result)
  return result
}

function cpuStatus(averageUtilization: number): MetricStatus {
  return { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization } } }
}

/** Converts an autoscaler from v2 to v1. Fields that v1 lacks become annotations. Does not change its argument. */
export function hpaToV1(object: MutableObject): MutableObject {
  const result = deepCopy(object)
  result.apiVersion = 'autoscaling/v1'
  dropConversionAnnotations(result)
  const { metrics: wanted, behavior, ...spec } = (object['spec'] ?? {}) as HpaSpec
  const { currentMetrics: reported, conditions: found, ...status } = (object['status'] ?? {}) as HpaStatus
  // Empty lists are stored as null.
  const [metrics, currentMetrics, conditions] = [wanted ?? [], reported ?? [], found ?? []]
  const target = metrics.find(isCpuUtilization)?.resource?.target?.averageUtilization
  result['spec'] = { ...spec, ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }) }
  const current = currentMetrics.findLast(
    ({ type, resource }) =>
      type === 'Resource' && resource?.name === 'cpu' && resource.current?.averageUtilization !== undefined,
  )?.resource?.current?.averageUtilization
  result['status'] = { ...status, ...(current === undefined ? {} : { currentCPUUtilizationPercentage: current }) }
  const others = metrics.filter((metric) => !isCpuUtilization(metric))
  const added: Record<string, string> = {}
  if (others.length > 0) added[metricsKey] = JSON.stringify(others.map(metricSpecToV1))
  if (currentMetrics.length > 0) added[currentMetricsKey] = JSON.stringify(currentMetrics.map(metricStatusToV1))
  if (behavior) {
    added[behaviorKey] = JSON.stringify({
      ScaleUp: rulesToV1(behavior.scaleUp),
      ScaleDown: rulesToV1(behavior.scaleDown),
    })
  }
  if (conditions.length > 0) added[conditionsKey] = JSON.stringify(conditions.map(conditionToV1))
  if (Object.keys(added).length > 0) result.metadata.annotations = { ...result.metadata.annotations, ...added }
  return result
}

function conditionToV1({ type, status, lastTransitionTime, reason, message }: Conditions[number]): object {
  return {
    type: type ?? '',
    status: status ?? '',
    lastTransitionTime: lastTransitionTime ?? null,
    ...(reason ? { reason } : {}),
    ...(message ? { message } : {}),
  }
}

/** Renames the fields of scaling rules to those of the internal Go type, because the annotation contains its JSON. */
function rulesToV1(rules: ScalingRules | undefined): object | null {
  if (!rules) return null
  return {
    StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
    SelectPolicy: rules.selectPolicy ?? null,
    Policies:
      rules.policies?.map(({ type = '', value = 0, periodSeconds = 0 }) => ({
        Type: type,
        Value: value,
        PeriodSeconds: periodSeconds,
      })) ?? null,
    Tolerance: rules.tolerance ?? null,
  }
}

function parseBehavior(text: string | undefined): HpaSpec['behavior'] {
  const parsed = lowerKeys(parseJson(text)) as HpaSpec['behavior'] | undefined
  if (!parsed || typeof parsed !== 'object') return undefined
  const { scaleUp, scaleDown } = parsed
  return scaleUp || scaleDown ? { ...(scaleUp ? { scaleUp } : {}), ...(scaleDown ? { scaleDown } : {}) } : undefined
}

/** Converts the keys of objects to lower camel case and drops nulls. */
function lowerKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(lowerKeys)
  if (typeof value !== 'object' || value === null) return value
  const known = Object.entries(value).filter(([, each]) => each !== null)
  return Object.fromEntries(known.map(([key, each]) => [key.charAt(0).toLowerCase() + key.slice(1), lowerKeys(each)]))
}

function parseList<T>(text: string | undefined): T[] | undefined {
  const parsed = parseJson(text)
  return Array.isArray(parsed) ? parsed : undefined
}

/** Parses the JSON in an annotation. Returns undefined for malformed JSON. */
function parseJson(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
