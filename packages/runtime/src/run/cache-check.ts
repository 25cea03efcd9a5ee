import { type Clock, type Duration, toMillis } from '@kubewright/base'
import type { ObjectCache } from '../cluster/object-cache.ts'
import type { HealthCheck } from '../serving/health/health-check.ts'

/** What {@link cacheCheck} takes. */
export interface CacheCheckOptions {
  readonly cache: Pick<ObjectCache, 'health'>
  readonly clock: Clock
  /**
   * How long a watch that was fine may fail before it counts: pods must not be taken out of service because the API server was
   * restarted. @default '30s'
   */
  readonly patience?: Duration
}

/**
 * Fails until the cache has what it watches, and when a watch has failed for long; names each such watch, why, and the cure. Kinds that
 * are not installed do not count: whoever needs them says so.
 */
export function cacheCheck({ cache, clock, patience = '30s' }: CacheCheckOptions): HealthCheck {
  let wasFine = false
  return {
    name: 'cache',
    check: () => {
      const tolerated = wasFine ? toMillis(patience) : 0
      const problems = [...cache.health].flatMap(([name, { state, since, message, cure, missing }]) => {
        if (missing || state === 'watching' || state === 'stopped') return []
        if (clock.now() - since < tolerated) return []
        if (state === 'starting') return [`${name} has not been listed yet`]
        return [[message ?? `${name} cannot be watched`, cure].filter((text) => text !== undefined).join('. ')]
      })
      if (problems.length > 0) throw new Error(problems.join('; '))
      wasFine = true
    },
  }
}
