import { findCondition, fromTime, keyOf, toTime } from '@kubewright/api'
import type { Pod, Service } from '@kubewright/k8s'
import { knownTime } from '../workload/known-time.ts'

/** Says when endpoints were written because of what: the delay until they are used is measured from there. */
export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time'

interface Seen {
  readonly service: number
  readonly pods: ReadonlyMap<string, number>
}

/** Remembers when services and their pods changed last, to tell what brought a change of endpoints about. */
export class TriggerTimes {
  readonly #seen = new Map<string, Seen>()

  /** When the oldest change happened that the last call did not know; undefined when there was none. Once for each reconcile. */
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
    return fresh.length === 0 ? undefined : toTime(Math.min(...fresh))
  }

  /** Forgets a service that is gone. */
  forget(key: string): void {
    this.#seen.delete(key)
  }
}

/** Annotations with the time of the trigger, or without it when there is none. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  time: string | undefined,
): Record<string, string> {
  const { [triggerTimeAnnotation]: _, ...others } = annotations ?? {}
  return time === undefined ? others : { ...others, [triggerTimeAnnotation]: time }
}
