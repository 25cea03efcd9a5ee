import type { Clock } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import type { ClusterView, FollowOptions } from './cluster-view.ts'
import { followList } from './follow-list.ts'
import { KindCatalog } from './kind-catalog.ts'

/** The cluster as it is now, kept current by watches. */
export class LiveCluster implements ClusterView {
  readonly client: ApiClient
  readonly kinds: KindCatalog
  readonly #clock: Clock

  constructor(client: ApiClient, clock: Clock) {
    this.client = client
    this.kinds = new KindCatalog(client, clock)
    this.#clock = clock
  }

  follow(options: FollowOptions): void {
    void followList(this.client.rest, this.#clock, options)
  }
}
