import type { ApiClient, Client } from '@kubewright/client'
import type { ObjectCache } from './object-cache.ts'

/** One API server as an operator sees it: what is read from it, kept of it and written to it. */
export interface Cluster extends AsyncDisposable {
  /** Tells several clusters apart; `''` for the only or main one. */
  readonly name: string
  /** Always asks the server. */
  readonly api: ApiClient
  /**
   * Reads kinds that the cache watches from there, with the writes made through this client already visible, and everything else
   * from the server; writes to the server. Each read may choose with `consistency`.
   */
  readonly client: Client
  readonly cache: ObjectCache
  /** The namespaces that the operator may look at; empty for all. */
  readonly namespaces: readonly string[]
}
