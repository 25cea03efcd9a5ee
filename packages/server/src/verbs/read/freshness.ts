import { newTooLargeResourceVersion } from '@kubewright/api'
import type { ObjectRegistry } from '../../registry/object-registry.ts'

/** How long a read waits for a resource version that the caches have not reached. */
const freshnessMillis = 3000

/**
 * Waits until the caches have reached a resource version, for a few seconds at most. Throws "Too large resource version" when they have
 * not by then.
 */
export async function waitUntilFresh(
  { feed, clock }: ObjectRegistry,
  wanted: number,
  signal: AbortSignal,
): Promise<void> {
  const deadline = new AbortController()
  const timer = clock.setTimer(freshnessMillis, () => deadline.abort(), 'freshness')
  const stop = (): void => deadline.abort()
  signal.addEventListener('abort', stop)
  try {
    await feed.reached(wanted, deadline.signal)
  } finally {
    timer.cancel()
    signal.removeEventListener('abort', stop)
  }
  if (feed.revision < wanted) throw newTooLargeResourceVersion(String(wanted), String(feed.revision), 1)
}

/** Throws "Too large resource version" at once when the store has not reached the version, as a read from etcd does. */
export function requireReached({ feed }: ObjectRegistry, wanted: number): void {
  if (feed.revision < wanted) throw newTooLargeResourceVersion(String(wanted), String(feed.revision), 0)
}
