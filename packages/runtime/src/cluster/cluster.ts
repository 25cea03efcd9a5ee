import type { ApiClient, Client } from '@kubewright/client'
import type { ObjectCache } from './object-cache.ts'

/** Access to one API server: an uncached client, a cached client and the cache. */
export interface Cluster extends AsyncDisposable {
  /** The name of the cluster; `''` for the only or main one. */
  readonly name: string
  /** Sends every request to the server. */
  readonly api: ApiClient
  /**
   * Reads cached kinds from the cache, including earlier writes through this client, and other kinds from the server.
   * Sends writes to the server. Each read can override this with `consistency`.
   */
  readonly client: Client
  readonly cache: ObjectCache
  /** The namespaces that the operator may access; empty for all. */
  readonly namespaces: readonly string[]
}

/** Clusters by name. */
export interface Clusters extends Iterable<Cluster> {
  get(name: string): Cluster | undefined
}
