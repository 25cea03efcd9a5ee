import { CaughtError, type Clock, type Duration, toMillis } from '@kubewright/base'
import type { ObjectCache } from '../cluster/object-cache.ts'
import type { HealthCheck } from '../serving/health/health-check.ts'

/** Options of {@link cacheCheck}. */
export interface CacheCheckOptions {
  readonly cache: Pick<ObjectCache, 'health'>
  readonly clock: Clock
  /**
   * How long a watch that worked before may fail before the check fails: a restart of the API server must not make pods
   * unready. @default '30s'
   */
  readonly patience?: Duration | undefined
}

/**
 * A check that fails until the cache has its initial lists, and when a watch has been failing for long. The message
 * names each such watch, its problem and the fix. Kinds that are not installed are ignored: their controllers report
 * them.
 */
export function cacheCheck({ cache, clock, patience = '30s' }: CacheCheckOptions): HealthCheck {
  let wasHealthy = false
  return {
    name: 'cache',
    check: () => {
      const tolerated = wasHealthy ? toMillis(patience) : 0
      const problems = [...cache.health].flatMap(([name, { state, since, message, fix, missing }]) => {
        if (missing || state === 'watching' || state === 'stopped') return []
        if (clock.now() - since < tolerated) return []
        if (state === 'starting') return [`${name} has not been listed yet`]
        return [[message ?? `${name} cannot be watched`, fix].filter((text) => text !== undefined).join('. ')]
      })
      if (problems.length > 0) throw new CaughtError(problems.join('; '))
      wasHealthy = true
    },
  }
}
