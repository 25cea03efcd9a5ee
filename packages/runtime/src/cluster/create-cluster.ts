import type { Clock, Duration, Logger, MetricSink, Random } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import type { Cluster } from './cluster.ts'
import { createCachedClient } from './create-cached-client.ts'
import { createObjectCache, type ObjectCacheOptions } from './create-object-cache.ts'

/** Options of {@link createCluster}. */
export interface ClusterOptions {
  readonly api: ApiClient
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly metrics?: MetricSink | undefined
  /** @default '' */
  readonly name?: string | undefined
  /** The namespaces that the operator may access; empty for all. @default all */
  readonly namespaces?: readonly string[] | undefined
  /** Options of the object cache. Its `namespaces` default to those of the cluster. */
  readonly cache?: Omit<ObjectCacheOptions, 'client' | 'clock' | 'random' | 'log' | 'metrics'> | undefined
  /** How long reads include an own write that the cache has not received. @default '5m' */
  readonly overlayDeadline?: Duration | undefined
}

/**
 * Creates the cache and the cached client of one API server. Disposing the cluster stops all watches; the caller
 * disposes the `api`.
 */
export function createCluster(options: ClusterOptions): Cluster {
  const { api, clock, random, log, metrics, name = '', overlayDeadline } = options
  const namespaces = Object.freeze([...(options.namespaces ?? [])])
  const cache = createObjectCache({
    ...options.cache,
    client: api,
    clock,
    random,
    log,
    metrics,
    namespaces: options.cache?.namespaces ?? namespaces,
  })
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
