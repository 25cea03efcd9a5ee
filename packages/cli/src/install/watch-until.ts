import type { AnyKind } from '@kubewright/api'
import { ApiError, type Infer } from '@kubewright/api'
import type { ApiClient } from '@kubewright/client'

/** The object to watch. */
export interface WatchUntilOptions {
  readonly name: string
  readonly namespace?: string | undefined
  readonly signal: AbortSignal
}

/**
 * Watches an object until `isDone` returns true for it, or for its absence as undefined. Resolves to that state. Also works on servers
 * without streaming lists. Rejects if the signal aborts.
 */
export async function watchUntil<K extends AnyKind>(
  client: ApiClient,
  kind: K,
  { name, namespace, signal }: WatchUntilOptions,
  isDone: (found: Infer<K> | undefined) => boolean,
): Promise<Infer<K> | undefined> {
  const where = {
    fields: { 'metadata.name': name },
    ...(kind.scope === 'Namespaced' ? { namespace } : {}),
    signal,
  }
  for (;;) {
    let resourceVersion = ''
    for await (const page of client.pages(kind, where)) {
      resourceVersion = page.resourceVersion
      const [found] = page.items
      if (isDone(found)) return found
    }
    try {
      const watch = await client.watch(kind, { ...where, resourceVersion })
      for await (const event of watch) {
        if (event.type === 'BOOKMARK') continue
        const found = event.type === 'DELETED' ? undefined : event.object
        if (isDone(found)) return found
      }
    } catch (error) {
      // The resource version of the list has expired: list again.
      if (!(error instanceof ApiError) || error.status.code !== 410) throw error
    }
    signal.throwIfAborted()
  }
}
