import { join } from 'node:path'
import type { AsyncDisposer, Clock, Logger } from '@kubewright/base'
import { MemoryStore, openDurableStore, openEtcdStore, type Store } from '@kubewright/storage'
import type { CompletedConfig } from '../config/completed-config.ts'
import { isStoreConfig, type StoreConfig } from '../config/store-config.ts'
import { withFolder } from './folder-error.ts'

/** Returns the store of a control plane. Unless the caller has opened it, it is closed with the disposer. */
export async function openStore(
  { store = { kind: 'memory' }, history, clock, log }: CompletedConfig,
  disposer: AsyncDisposer,
): Promise<Store> {
  return isStoreConfig(store) ? disposer.use(await open(store, history?.bytes, clock, log)) : store
}

/** Opens the store that is described. etcd keeps its history itself and ignores the size. */
async function open(store: StoreConfig, bytes: number | undefined, clock: Clock, log: Logger): Promise<Store> {
  const history = bytes === undefined ? {} : { historyBytes: bytes }
  switch (store.kind) {
    case 'memory':
      return new MemoryStore(history)
    case 'durable': {
      const { folder } = store
      const opened = await withFolder('objects', folder, () => openDurableStore(join(folder, 'store'), history))
      for (const text of opened.openNotes) log.info(`Opened the store in ${folder}; ${text}`)
      return opened
    }
    case 'etcd': {
      const { kind: _, compaction: __, ...options } = store
      return openEtcdStore({ ...options, clock })
    }
  }
}
