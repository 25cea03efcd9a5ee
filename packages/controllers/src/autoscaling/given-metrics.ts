import { Quantity } from '@kubewright/api'
import { CaughtError, isJsonObject } from '@kubewright/base'
import type { HorizontalPodAutoscaler } from '@kubewright/k8s'

/**
 * The annotation of a HorizontalPodAutoscaler that supplies metric values, because simulated pods have no metrics API.
 * Its value is a JSON object keyed by metric name. A quantity such as `"1500m"` is the total over all pods, or the
 * value of an object or external metric; a percentage such as `"80%"` is the average utilization of the pods' requests,
 * independent of the number of pods.
 */
export const metricsAnnotation = 'kubewright.dev/metrics'

/** The value of a metric. */
export type GivenMetric = { readonly total: Quantity } | { readonly percent: number }

/** Parses the metrics annotation of an autoscaler. Throws when the annotation is invalid. */
export function givenMetrics({ metadata }: HorizontalPodAutoscaler): ReadonlyMap<string, GivenMetric> {
  const text = metadata.annotations?.[metricsAnnotation]
  if (text === undefined) return new Map()
  const wrong = (why: string): Error =>
    new CaughtError(`annotation ${metricsAnnotation}: ${why}; use a JSON object such as {"cpu":"80%","requests":"120"}`)
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw wrong('not JSON')
  }
  if (!isJsonObject(parsed)) throw wrong('not an object')
  return new Map(
    Object.entries(parsed).map(([name, value]): [string, GivenMetric] => {
      const given = typeof value === 'number' ? String(value) : value
      const percent = typeof given === 'string' ? /^(\d+(?:\.\d+)?)%$/.exec(given)?.[1] : undefined
      if (percent !== undefined) return [name, { percent: Number(percent) }]
      const total = typeof given === 'string' ? Quantity.tryParse(given) : undefined
      if (total === undefined) throw wrong(`${JSON.stringify(name)} is neither a quantity nor a percentage`)
      return [name, { total }]
    }),
  )
}
