import type { Loose } from '../../../table/columns.ts'
import { quantityText } from '../../../table/human.ts'

/** The target of a metric. v2 has the numbers in `target`, the annotations of v1 have them beside the name. */
export interface MetricSpec {
  type: string
  resource: TargetSource
  containerResource: TargetSource
  pods: TargetSource
  object: TargetSource
  external: TargetSource
}

interface TargetSource {
  name: string
  target: Numbers
  targetValue: Quantity
  targetAverageValue: Quantity
  averageValue: Quantity
  targetAverageUtilization: number
}

/** The current value of a metric. v2 has the numbers in `current`, the annotations of v1 have them beside the name. */
export interface MetricStatus {
  type: string
  resource: CurrentSource
  containerResource: CurrentSource
  pods: CurrentSource
  object: CurrentSource
  external: CurrentSource
}

interface CurrentSource {
  name: string
  current: Numbers
  currentValue: Quantity
  currentAverageValue: Quantity
  averageValue: Quantity
  currentAverageUtilization: number
}

interface Numbers {
  value: Quantity
  averageValue: Quantity
  averageUtilization: number
}

type Quantity = number | string

/** A metric as `current/target`, as in the output of `kubectl get hpa`. */
export function metricText(spec: Loose<MetricSpec>, status: Loose<MetricStatus> | undefined): string {
  switch (spec.type) {
    case 'External':
      return valueText(targetOf(spec.external), currentOf(status?.external))
    case 'Object':
      return valueText(targetOf(spec.object), currentOf(status?.object))
    case 'Pods': {
      const current = currentOf(status?.pods)
      return `${current ? pointerText(current.averageValue) : unknown}/${pointerText(targetOf(spec.pods).averageValue)}`
    }
    case 'Resource':
      return `${spec.resource?.name ?? ''}: ${usageText(targetOf(spec.resource), currentOf(status?.resource))}`
    case 'ContainerResource': {
      const current = currentOf(status?.containerResource)
      return `${spec.containerResource?.name ?? ''}: ${usageText(targetOf(spec.containerResource), current)}`
    }
    default:
      return '<unknown type>'
  }
}

const unknown = '<unknown>'

/** A total value, or an average over the pods. */
function valueText(target: Loose<Numbers>, current: Loose<Numbers> | undefined): string {
  if (isSet(target.averageValue)) {
    const average = isSet(current?.averageValue) ? quantityText(current?.averageValue) : unknown
    return `${average}/${quantityText(target.averageValue)} (avg)`
  }
  return `${current ? pointerText(current.value) : unknown}/${pointerText(target.value)}`
}

/** The use of a resource as a quantity, or in per cent of the requests of the pods. */
function usageText(target: Loose<Numbers>, current: Loose<Numbers> | undefined): string {
  if (isSet(target.averageValue)) {
    return `${current ? pointerText(current.averageValue) : unknown}/${quantityText(target.averageValue)}`
  }
  const used = isSet(current?.averageUtilization) ? `${current?.averageUtilization}%` : unknown
  return `${used}/${isSet(target.averageUtilization) ? `${target.averageUtilization}%` : '<auto>'}`
}

function targetOf(source: Loose<TargetSource> | null | undefined): Loose<Numbers> {
  const { target, targetValue, targetAverageValue, averageValue, targetAverageUtilization } = source ?? {}
  return {
    value: target?.value ?? targetValue ?? null,
    averageValue: target?.averageValue ?? targetAverageValue ?? averageValue ?? null,
    averageUtilization: target?.averageUtilization ?? targetAverageUtilization ?? null,
  }
}

function currentOf(source: Loose<CurrentSource> | null | undefined): Loose<Numbers> | undefined {
  if (!source) return undefined
  const { current, currentValue, currentAverageValue, averageValue, currentAverageUtilization } = source
  return {
    value: current?.value ?? currentValue ?? null,
    averageValue: current?.averageValue ?? currentAverageValue ?? averageValue ?? null,
    averageUtilization: current?.averageUtilization ?? currentAverageUtilization ?? null,
  }
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null

/** Formats an optional quantity as Go formats a pointer. */
function pointerText(quantity: Quantity | null | undefined): string {
  return isSet(quantity) ? quantityText(quantity) : '<nil>'
}
