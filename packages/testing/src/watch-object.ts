import { type AnyKind, type Infer, isInternalError, toNameAndNamespace } from '@kubewright/api'
import type { ApiClient, Key } from '@kubewright/client'

/** The state of an object at one point in time; undefined when it does not exist. */
export type Sight<K extends AnyKind> = Infer<K> | undefined

/**
 * Calls `isEnough` with the current state of an object and with each change, until it returns true or the signal
 * aborts. Resolves to the last state. Reopens watches that end.
 */
export async function watchObject<K extends AnyKind>(
  client: ApiClient,
  kind: K,
  key: Key,
  isEnough: (sight: Sight<K>) => boolean,
  { namespace, signal }: { readonly namespace: string; readonly signal: AbortSignal },
): Promise<Sight<K>> {
  const { name, namespace: named = namespace } = toNameAndNamespace(key)
  const where = kind.scope === 'Namespaced' ? { namespace: named } : {}
  const fields = { 'metadata.name': name }
  let canStream = true
  for (;;) {
    let there = false
    let from: object = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
    try {
      if (!canStream) {
        for await (const { items, resourceVersion } of client.pages(kind, { ...where, fields, signal })) {
          const [object] = items
          there = object !== undefined
          if (isEnough(object)) return object
          from = { resourceVersion }
        }
      }
      const watch = await client.watch(kind, { ...where, fields, signal, ...from })
      for await (const event of watch) {
        if (event.type === 'BOOKMARK') {
          if (event.initialEventsEnd && !there && isEnough(undefined)) return undefined
          continue
        }
        there = event.type !== 'DELETED'
        const sight: Sight<K> = there ? event.object : undefined
        if (isEnough(sight)) return sight
      }
    } catch (error) {
      signal.throwIfAborted()
      // Clusters with an old etcd cannot send initial events.
      if (!canStream || !isInternalError(error)) throw error
      canStream = false
    }
    signal.throwIfAborted()
  }
}
