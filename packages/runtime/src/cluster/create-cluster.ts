import type { Clock, Duration, Logger, MetricSink, Random } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import type { Cluster } from './cluster.ts'
import { createCachedClient } from './create-cached-client.ts'
import { createObjectCache, type ObjectCacheOptions } from './create-object-cache.ts'

/** What {@link createCluster} takes. */
export interface ClusterOptions {
  readonly api: ApiClient
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics?: MetricSink | undefined
  /** @default '' */
  readonly name?: string | undefined
  /** The namespaces that the operator may look at; empty for all. @default all */
  readonly namespaces?: readonly string[] | undefined
  /** What is kept of the objects, and how. */
  readonly cache?:
    | Omit<ObjectCacheOptions, 'client' | 'clock' | 'random' | 'log' | 'metrics' | 'namespaces'>
    | undefined
  /** How long an own write is shown at most while the cache does not have it. @default '5m' */
  readonly overlayDeadline?: Duration | undefined
}

/** Brings client and cache of one API server together. Disposing it stops all watches; the `api` stays the caller's. */
export function createCluster(options: ClusterOptions): Cluster {
  const { api, clock, random, log, metrics, name = '', overlayDeadline } = options
  const namespaces = Object.freeze([...(options.namespaces ?? [])])
  const cache = createObjectCache({ ...options.cache, client: api, clock, random, log, metrics, namespaces })
  const client = createCachedClient({ api, cache, clock, log, metrics, namespaces, overlayDeadline })
  return {
    name,
    api,
    client,
    cache,
    namespaces,
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]()
      await cache[Symbol.asyncDispose]()
    },
  }
}
