import { Pod } from '@kubewright/k8s'
import type { ControllerParts, KeySink, RunningSource, Source } from '@kubewright/runtime'

/** How a {@link podSource} handles events. The methods run before the next event is delivered. */
export interface PodEvents {
  /** The source starts, and all pods will be seen. Called again when the controller starts again. */
  started(): void
  seen(pod: Pod, sink: KeySink): void
  gone(pod: Pod, sink: KeySink): void
}

/**
 * A source that updates state from pod events before it enqueues keys, in one handler and in order of the events. A reconcile of a key thus
 * sees the state of all earlier events, which two sources could not guarantee.
 */
export function podSource(events: PodEvents): Source {
  const start = (sink: KeySink, { cluster }: ControllerParts): RunningSource => {
    events.started()
    const lease = cluster.cache.use(Pod)
    const registration = lease.addHandler({
      onAdd: (pod) => events.seen(pod, sink),
      onUpdate: (_, pod) => events.seen(pod, sink),
      onDelete: (pod) => events.gone(pod, sink),
    })
    return {
      synced: registration.synced,
      problem: () => (lease.health.state === 'failing' ? lease.health.message : undefined),
      registrations: [registration],
      [Symbol.asyncDispose]: () => lease.release(),
    }
  }
  return Object.freeze({ name: 'Pod', start })
}
