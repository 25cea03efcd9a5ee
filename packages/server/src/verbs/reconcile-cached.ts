import { isNotFound } from '@kubewright/api'
import type { Logger } from '@kubewright/base'
import type { ObjectAccess } from '../registry/object-access.ts'
import type { Resource } from '../resource/resource.ts'
import type { StoredObject } from '../resource/stored-object.ts'

/** Parameters of {@link reconcileCached}. */
export interface ReconcileCachedOptions {
  readonly resource: Resource
  /** Called for every object of the resource, at the start and after each change. `all` are the objects of the same round. */
  readonly reconcile: (stored: StoredObject, all: readonly StoredObject[]) => Promise<void>
  /** The log message for a failed call. */
  readonly failure: string
}

/**
 * Reconciles the objects of a resource from the cache until disposed. Failures are logged, and the next change retries. The server uses it
 * for controllers that other clusters run in kube-controller-manager.
 */
export async function reconcileCached(
  { registry, log }: ObjectAccess & { readonly log: Logger },
  { resource, reconcile, failure }: ReconcileCachedOptions,
): Promise<AsyncDisposable> {
  const cache = await registry.feed.cache(resource.storage.prefix)
  const stop = new AbortController()
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      // Before the list, so that no change between both is missed.
      const changed = cache.changed(stop.signal)
      const all = cache.list(cache.prefix)
      for (const stored of all) {
        try {
          await reconcile(stored, all)
        } catch (error) {
          // A deleted object needs no update.
          if (!isNotFound(error)) log.error(error, failure, { name: stored.object.metadata.name })
        }
      }
      await changed
    }
  }
  const running = run()
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await running
    },
  }
}
