import { type AnyKind, controllerOf, formatKey, gvkOf, type Infer, type KubeObject, keyOf } from '@kubewright/api'
import { type Cause, type ControllerParts, lowPriority, type RunningSource, type Source } from '@kubewright/runtime'

/** Says which keys an object concerns. It may look at what the caches of the cluster have. */
export type KeysOf<T> = (object: T, parts: ControllerParts) => Iterable<string>

/** The objects of a kind, each by its own key. */
export function primary<K extends AnyKind>(kind: K, keep: (object: Infer<K>) => boolean = () => true): Source {
  return mapped(kind, (object) => (keep(object) ? [keyOf(object as KubeObject)] : []), kind.kind)
}

/**
 * The objects of a kind by the key of the one that controls them. An object without a controller is told to those who may want to
 * adopt it, which `adopters` finds.
 */
export function controlled<K extends AnyKind>(kind: K, owner: AnyKind, adopters?: KeysOf<Infer<K>>): Source {
  const keysOf: KeysOf<Infer<K>> = (object, parts) => {
    const { metadata }: KubeObject = object
    const reference = controllerOf({ metadata })
    if (reference === undefined) {
      return metadata.deletionTimestamp === undefined && adopters ? adopters(object, parts) : []
    }
    if (reference.kind !== owner.kind || gvkOf(reference).group !== owner.group) return []
    return [formatKey(reference.name, metadata.namespace)]
  }
  return mapped(kind, keysOf, `${kind.kind} (controlled)`)
}

/** The objects of a kind by whatever keys they concern; an update concerns those of before and after. */
export function mapped<K extends AnyKind>(kind: K, keysOf: KeysOf<Infer<K>>, name: string = `${kind.kind}`): Source {
  return Object.freeze({
    name,
    start: (sink, parts): RunningSource => {
      const lease = parts.cluster.cache.use(kind)
      const told = `${kind.apiVersion} ${kind.kind}`
      const add = (objects: readonly Infer<K>[], event: Cause['event'], initial = false): void => {
        for (const object of objects) {
          const cause: Cause = { event, kind: told, object: keyOf(object as KubeObject) }
          for (const key of keysOf(object, parts)) {
            sink.add(key, initial ? { cause, priority: lowPriority } : { cause })
          }
        }
      }
      const registration = lease.addHandler(
        {
          onAdd: (object, { isInInitialList }) => add([object], 'add', isInInitialList),
          onUpdate: (before, after, { isResync }) => add([before, after], isResync ? 'resync' : 'update', isResync),
          onDelete: (object) => add([object], 'delete'),
        },
        { name },
      )
      return {
        synced: registration.synced,
        problem: () => {
          const { state, message, cure } = lease.health
          return state === 'failing' ? [message, cure].filter(Boolean).join('. ') : undefined
        },
        registrations: [registration],
        [Symbol.asyncDispose]: () => lease.release(),
      }
    },
  } satisfies Source)
}
