import { type KubeObject, keyOf } from '@kubewright/api'
import type { Key, ObjectIndex } from '@kubewright/client'
import type { MapContext } from '../controller/sources/key-mapping.ts'

/** Options of {@link through}. */
export interface ThroughOptions<T> {
  /** The values under which the index refers to a changed object. @default its name */
  readonly value?: ((object: T) => string | Iterable<string>) | undefined
  /**
   * Whether the index may refer to objects of other namespaces; `value` then usually contains the namespace.
   * @default false: only objects in the namespace of the changed object, or all if that is cluster-scoped
   */
  readonly anyNamespace?: boolean | undefined
}

/**
 * A mapping for `watch`: a change of an object reconciles the objects that refer to it by an index.
 *
 * @example const bySecret = index(Team, 'bySecret', (team) => team.spec.refs.map((ref) => ref.name))
 * defineController(Team, { watches: [watch(Secret, through(bySecret))], reconcile })
 */
export function through<T extends KubeObject = KubeObject>(
  // An index of the kind that the controller reconciles.
  index: ObjectIndex<never>,
  options: ThroughOptions<T> = {},
): (object: T, context: MapContext) => Promise<readonly Key[]> {
  const { value = ({ metadata }: T) => metadata.name, anyNamespace = false } = options
  return async (object, { client, synced, selector }) => {
    const values = value(object)
    // Undefined means the namespaces of the operator.
    const namespace = anyNamespace ? undefined : object.metadata.namespace
    await synced?.(index.kind)
    const lists = await Promise.all(
      [...new Set(typeof values === 'string' ? [values] : values)].map((each) =>
        client.list(index.kind, { index: index(each) as never, namespace, selector }),
      ),
    )
    return (lists.flat() as readonly KubeObject[]).map((owner) => keyOf(owner))
  }
}
