import type { Clock } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import type { Cluster } from '../cluster/cluster.ts'
import { createCluster } from '../cluster/create-cluster.ts'
import type { ClusterHost } from '../define/cluster-provider.ts'
import type { ManagedClusters } from './manager.ts'
import type { ManagerParts } from './manager-parts.ts'

interface Provided {
  readonly cluster: Cluster
  readonly api: ApiClient
}

/** Creates and disposes the clusters that a provider finds, with the settings of the operator. */
export class ProvidedClusters implements ClusterHost, AsyncDisposable {
  readonly clock: Clock
  readonly #parts: ManagerParts
  readonly #clusters: ManagedClusters
  readonly #provided = new Map<string, Provided>()

  constructor(parts: ManagerParts, clusters: ManagedClusters) {
    this.clock = parts.clock
    this.#parts = parts
    this.#clusters = clusters
  }

  async engage(name: string, api: ApiClient): Promise<void> {
    const { clock, random, log, metrics, operator } = this.#parts
    const settings = { namespaces: operator?.namespaces, cache: operator?.cache }
    const cluster = createCluster({ api, name, clock, random, log, metrics, ...settings })
    try {
      await this.#clusters.engage(cluster)
    } catch (error) {
      await close({ cluster, api })
      throw error
    }
    this.#provided.set(name, { cluster, api })
  }

  async disengage(name: string): Promise<void> {
    await this.#clusters.disengage(name)
    const provided = this.#provided.get(name)
    this.#provided.delete(name)
    if (provided !== undefined) await close(provided)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#provided.values()]
    this.#provided.clear()
    await Promise.all(all.map(close))
  }
}

async function close({ cluster, api }: Provided): Promise<void> {
  await cluster[Symbol.asyncDispose]()
  await api[Symbol.asyncDispose]()
}
