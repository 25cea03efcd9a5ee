import { onAbort } from '@kubewright/base'
import type { ResourceCache } from './resource-cache.ts'

/** Resolves after the next change of one of the caches, or when the signal aborts. Leaves no listeners behind. */
export async function anyChanged(caches: readonly ResourceCache[], signal: AbortSignal): Promise<void> {
  const done = new AbortController()
  const stopListening = onAbort(signal, () => done.abort())
  try {
    await Promise.race(caches.map((cache) => cache.changed(done.signal)))
  } finally {
    stopListening()
    done.abort()
  }
}
