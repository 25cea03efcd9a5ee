import type { HorizontalPodAutoscaler } from '@kubewright/k8s'

type Status = NonNullable<HorizontalPodAutoscaler['status']>
type MetricStatus = NonNullable<Status['currentMetrics']>[number]

/** Builds the status of an autoscaler during one reconcile. */
export class AutoscalerStatus {
  value: Status
  readonly #now: string

  constructor({ status }: HorizontalPodAutoscaler, now: string) {
    this.value = status ?? { desiredReplicas: 0 }
    this.#now = now
  }

  /** Sets a condition. */
  set(type: 'AbleToScale' | 'ScalingActive' | 'ScalingLimited', holds: boolean, reason: string, message: string): void {
    const conditions = [...(this.value.conditions ?? [])]
    const at = conditions.findIndex((one) => one.type === type)
    const before = conditions[at]
    const status = holds ? 'True' : 'False'
    const since = before?.status === status ? before.lastTransitionTime : this.#now
    const next = { type, status, reason, message, ...(since === undefined ? {} : { lastTransitionTime: since }) }
    if (at === -1) conditions.push(next)
    else conditions[at] = next
    this.value = { ...this.value, conditions }
  }

  /** Sets the current and desired replica counts; `scaled` also updates `lastScaleTime`. */
  replicas(current: number, desired: number, metrics: readonly MetricStatus[], scaled = false): void {
    const { conditions, lastScaleTime } = this.value
    const time = scaled ? this.#now : lastScaleTime
    this.value = {
      ...(conditions === undefined ? {} : { conditions }),
      ...(metrics.length === 0 ? {} : { currentMetrics: [...metrics] }),
      currentReplicas: current,
      desiredReplicas: desired,
      ...(time === undefined ? {} : { lastScaleTime: time }),
    }
  }
}
