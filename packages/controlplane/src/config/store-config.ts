import { type Duration, toMillis } from '@kubewright/base'
import type { HistoryLimits } from '@kubewright/server'
import type { EtcdStoreOptions, Store } from '@kubewright/storage'

/** A store that a control plane opens, and closes when it stops. */
export type StoreConfig =
  | { readonly kind: 'memory' }
  /** The folder also has the identity of the server. One process at a time can open it. */
  | { readonly kind: 'durable'; readonly folder: string }
  | EtcdConfig

/** An etcd cluster. */
export interface EtcdConfig extends Pick<EtcdStoreOptions, 'endpoints' | 'keyPrefix' | 'tls' | 'auth'> {
  readonly kind: 'etcd'
  /** How long history is kept; 0 never compacts. @default '5m' */
  readonly compaction?: Duration | undefined
}

/** Whether a store is described, not open. */
export function isStoreConfig(store: Store | StoreConfig): store is StoreConfig {
  return 'kind' in store
}

/** How long the server keeps the history of a store. */
export function historyOf(
  store: Store | StoreConfig | undefined,
  history: HistoryLimits | undefined,
): HistoryLimits | undefined {
  if (store === undefined || !isStoreConfig(store) || store.kind !== 'etcd') return history
  const age = toMillis(store.compaction ?? '5m')
  // History in etcd takes none of this server's memory, so its age alone decides.
  const revisions = Number.POSITIVE_INFINITY
  return { ...history, age: age === 0 ? Number.POSITIVE_INFINITY : age, revisions }
}
