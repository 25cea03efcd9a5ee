import type { AnyKind, Infer, KubeObject } from '@kubewright/api'
import type { ControllerParts, KeySink, RunningSource, Source } from '@kubewright/runtime'

/** How an {@link eventSource} handles events. The methods run before the next event is delivered. */
export interface ObjectEvents<T> {
  /** The source starts, and all objects will be seen. Called again when the controller starts again. */
  started(): void
  seen(object: T, sink: KeySink): void
  gone(object: T, sink: KeySink): void
}

/**
 * A source that updates state from events before it enqueues keys, in one handler and in order of the events. A reconcile of a key thus
 * sees the state of all earlier events, which two sources could not guarantee.
 */
export function eventSource<K extends AnyKind>(kind: K, events: ObjectEvents<Infer<K> & KubeObject>): Source {
  const start = (sink: KeySink, { cluster }: ControllerParts): RunningSource => {
    events.started()
    const lease = cluster.cache.use(kind)
    const registration = lease.addHandler({
      // Does not read the previous state, which would decode it.
      onChange: ({ after, deleted }) => {
        if (after !== undefined) events.seen(after, sink)
        else if (deleted !== undefined) events.gone(deleted.object, sink)
      },
    })
    return {
      synced: registration.synced,
      problem: () => (lease.health.state === 'failing' ? lease.health.message : undefined),
      registrations: [registration],
      [Symbol.asyncDispose]: () => lease.release(),
    }
  }
  return Object.freeze({ name: kind.kind, start })
}
