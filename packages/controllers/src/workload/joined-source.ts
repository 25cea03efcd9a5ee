import type { AnyKind, Infer, KubeObject } from '@kubewright/api'
import {
  type ControllerParts,
  type KeySink,
  type KindSourceOptions,
  kindSource,
  type RunningSource,
  type Source,
  type Store,
} from '@kubewright/runtime'

/**
 * Reads the cache of a kind without waiting. Undefined before its first list. Unlike a client, it does not include own
 * writes that the watch has not delivered.
 */
export type CachedKind = <K extends AnyKind>(kind: K) => Store<Infer<K> & KubeObject> | undefined

/**
 * A {@link kindSource} whose mapping or predicates read objects of other kinds. They are watched as long as the source runs, and are
 * read without a promise: a pod has many events, and most of them concern nothing.
 */
export function joinedSource<K extends AnyKind>(
  kind: K,
  reads: readonly AnyKind[],
  optionsOf: (cached: CachedKind) => KindSourceOptions<Infer<K> & KubeObject>,
): Source {
  // The options of a source that is not started: only its name is read from them.
  const { name = kind.kind } = optionsOf(() => undefined)
  const start = (sink: KeySink, parts: ControllerParts): RunningSource => {
    const leases = new Map(reads.map((other) => [other, parts.cluster.cache.use(other)]))
    const cached: CachedKind = (other) => {
      const store = leases.get(other)?.store
      return store === undefined || store.resourceVersion === '' ? undefined : (store as never)
    }
    const running = kindSource(kind, optionsOf(cached)).start(sink, parts)
    return {
      synced: running.synced,
      registrations: running.registrations,
      problem: () => running.problem(),
      rescan: () => running.rescan?.(),
      async [Symbol.asyncDispose]() {
        await running[Symbol.asyncDispose]()
        await Promise.all([...leases.values()].map((lease) => lease.release()))
      },
    }
  }
  return Object.freeze({ name, kind, start })
}
