import { findCondition, fromTime, keyOf, toTime } from '@kubewright/api'
import type { Pod, Service } from '@kubewright/k8s'
import { knownTime } from '../workload/known-time.ts'

/** The annotation with the time of the change that caused this write. Clients measure the propagation delay from it. */
export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time'

interface Seen {
  readonly service: number
  readonly pods: ReadonlyMap<string, number>
}

/** Remembers the last changes of services and their pods, to find the change that triggered a write of endpoints. */
export class TriggerTimes {
  readonly #seen = new Map<string, Seen>()

  /**
   * The time of the oldest change since the previous call; undefined when there was none. Call it once per reconcile.
   */
  next(service: Service, pods: readonly Pod[]): string | undefined {
    const key = keyOf(service)
    const before = this.#seen.get(key)
    const created = fromTime(service.metadata.creationTimestamp)
    const now = new Map<string, number>()
    const fresh = created > (before?.service ?? 0) ? [created] : []
    for (const { metadata, status } of pods) {
      const changed = knownTime(findCondition(status?.conditions, 'Ready')?.lastTransitionTime)
      if (changed === undefined) continue
      now.set(metadata.name, changed)
      if (changed > (before?.pods.get(metadata.name) ?? 0)) fresh.push(changed)
    }
    this.#seen.set(key, { service: created, pods: now })
    if (before === undefined) return service.metadata.creationTimestamp
    return fresh.length === 0 ? undefined : toTime(fresh.reduce((a, b) => Math.min(a, b)))
  }

  /** Drops the state of a deleted service. */
  forget(key: string): void {
    this.#seen.delete(key)
  }
}

/** Sets the trigger time annotation, or removes it when the time is undefined. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  time: string | undefined,
): Record<string, string> {
  const { [triggerTimeAnnotation]: _, ...others } = annotations ?? {}
  return time === undefined ? others : { ...others, [triggerTimeAnnotation]: time }
}
