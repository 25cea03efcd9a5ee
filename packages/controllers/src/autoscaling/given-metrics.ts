import { Quantity } from '@kubewright/api'
import type { HorizontalPodAutoscaler } from '@kubewright/k8s'

/**
 * The annotation of a HorizontalPodAutoscaler that says what its metrics measure, because nothing else does where pods are simulated:
 * a JSON object of metric names. A quantity such as `"1500m"` is what all pods together use, or what an object or external metric
 * shows; a percentage such as `"80%"` is the average utilization of what the pods request, however many there are.
 */
export const metricsAnnotation = 'kubewright.dev/metrics'

/** What a metric measures. */
export type GivenMetric = { readonly total: Quantity } | { readonly percent: number }

/** The metrics that an autoscaler is given. Throws when its annotation cannot be read. */
export function givenMetrics({ metadata }: HorizontalPodAutoscaler): ReadonlyMap<string, GivenMetric> {
  const text = metadata.annotations?.[metricsAnnotation]
  if (text === undefined) return new Map()
  const wrong = (why: string): Error =>
    new Error(`annotation ${metricsAnnotation}: ${why}; give a JSON object such as {"cpu":"80%","requests":"120"}`)
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    throw wrong('not JSON')
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) throw wrong('not an object')
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
