import type { AnyKind } from '@kubewright/api'
import { ApiError, type Infer } from '@kubewright/api'
import type { ApiClient } from '@kubewright/client'

/** Which object, and how long to look at it. */
export interface WatchUntilOptions {
  readonly name: string
  readonly namespace?: string | undefined
  readonly signal: AbortSignal
}

/**
 * Looks at an object until `isDone` says so of it, or of its absence; resolves to what there was then. Works on servers that cannot
 * stream lists, too.
 */
export async function watchUntil<K extends AnyKind>(
  client: ApiClient,
  kind: K,
  { name, namespace, signal }: WatchUntilOptions,
  isDone: (sight: Infer<K> | undefined) => boolean,
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
      const [sight] = page.items
      if (isDone(sight)) return sight
    }
    try {
      const watch = await client.watch(kind, { ...where, resourceVersion })
      for await (const event of watch) {
        if (event.type === 'BOOKMARK') continue
        const sight = event.type === 'DELETED' ? undefined : event.object
        if (isDone(sight)) return sight
      }
    } catch (error) {
      // The list got too old for a watch: another one is not.
      if (!(error instanceof ApiError) || error.status.code !== 410) throw error
    }
    signal.throwIfAborted()
  }
}
