import type { Clock } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import type { AccessRule } from '../controller/access-rule.ts'
import type { KeyController } from '../controller/key-controller.ts'

/** The clusters of a manager, as a provider changes them. */
export interface ClusterHost {
  readonly clock: Clock
  /**
   * Runs the operator's controllers on a further cluster. Resolves when their caches have synced; rejects, and undoes
   * everything, when they have not synced in time. Takes over the client: it is disposed with the cluster.
   */
  engage(name: string, api: ApiClient): Promise<void>
  /** Ends the work on a cluster and closes its connections. Does nothing for a name that is not engaged. */
  disengage(name: string): Promise<void>
}

/** Finds the clusters besides the main one on which an operator's controllers run. A plain value. */
export interface ClusterProvider {
  readonly name: string
  /** The namespace whose objects the provider reads, and the permissions that it needs there. */
  readonly namespace: string
  readonly rbac: readonly AccessRule[]
  /** Creates the controller that engages and disengages clusters. It runs on the main cluster, on every replica. */
  readonly start: (host: ClusterHost) => KeyController
}
