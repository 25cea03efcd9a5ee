export {
  type AttachedFile,
  type Backup,
  type BackupSummary,
  backUpStore,
  type RestoreOptions,
  readBackup,
  restoreStore,
} from './backup.ts'
export {
  type CheckedFile,
  checkStore,
  type Loss,
  repairStore,
  type StoreCheck,
  type StoreRepair,
} from './check-store.ts'
export { DurableStore, type DurableStoreOptions, openDurableStore } from './durable-store.ts'
export { storageErrorCodes } from './error-codes.ts'
export type { EtcdTls } from './etcd/etcd-client.ts'
export { EtcdStore, type EtcdStoreOptions, openEtcdStore } from './etcd-store.ts'
export { folderProblem } from './folder-problem.ts'
export type { HistoryOptions } from './internal/local-store.ts'
export { makeFolder } from './make-folder.ts'
export { MemoryStore } from './memory-store.ts'
export { openReplicaStore, ReplicaStore, type ReplicaStoreOptions } from './replica-store.ts'
export { RevisionBoard } from './revision-board.ts'
export { serveReplica } from './serve-replica.ts'
export { CompactedError, FutureRevisionError, StorageError, type StorageErrorCode } from './storage-error.ts'
export type {
  Change,
  Entry,
  ForkableStore,
  ListRequest,
  Page,
  Store,
  WatchBatch,
  WatchRequest,
  WriteResult,
} from './store.ts'
