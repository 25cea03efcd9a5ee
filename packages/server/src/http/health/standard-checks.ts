import { type Clock, withDeadline } from '@kubewright/base'
import type { Store } from '@kubewright/storage'
import type { StoreFeed } from '../../cache/store-feed.ts'
import { HealthChecks } from './health-checks.ts'

/** Milliseconds within which the store must respond. */
const storeDeadline = 2000

/** The checks of every server: it responds, its store responds, and its caches follow the store. */
export function standardChecks(parts: { store: Store; feed: StoreFeed; clock: Clock }): HealthChecks {
  const { store, feed, clock } = parts
  const checks = new HealthChecks()
  checks.add('ping', () => undefined)
  checks.add('log', () => undefined)
  // Scripts expect this name, whatever the storage backend is.
  const reachable = async (): Promise<void> => {
    await withDeadline(clock, storeDeadline, 'ask the store for its revision', () => store.revision())
  }
  checks.add('etcd', reachable)
  checks.add('etcd-readiness', reachable, ['readyz'])
  checks.add(
    'informer-sync',
    async (signal) => {
      const revision = await store.revision()
      const follow = (late: AbortSignal): Promise<void> => feed.reached(revision, late)
      await withDeadline(clock, storeDeadline, 'follow the store', follow, { signal })
    },
    ['readyz'],
  )
  checks.addNotice('unreadable-objects', () =>
    feed.unreadable().map(({ key, problem }) => `the stored object ${key} cannot be read: ${problem}`),
  )
  return checks
}
