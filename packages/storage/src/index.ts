export {
  type AttachedFile,
  type Backup,
  type BackupSummary,
  backUpStore,
  type RestoreOptions,
  readBackup,
  restoreStore,
} from './durable/backup.ts'
export {
  type CheckedFile,
  checkStore,
  type Loss,
  repairStore,
  type StoreCheck,
  type StoreRepair,
} from './durable/check-store.ts'
export { DurableStore, type DurableStoreOptions, openDurableStore } from './durable/durable-store.ts'
export { storageErrorCodes } from './error-codes.ts'
export type { EtcdTls } from './etcd/etcd-client.ts'
export { EtcdStore, type EtcdStoreOptions, openEtcdStore } from './etcd/etcd-store.ts'
export { folderProblem } from './folder/folder-problem.ts'
export { makeFolder } from './folder/make-folder.ts'
export { writePrivateFile } from './folder/private-file.ts'
export type { HistoryOptions } from './memory/local-store.ts'
export { MemoryStore } from './memory/memory-store.ts'
export { CompactedError, FutureRevisionError, StorageError, type StorageErrorCode } from './store/storage-error.ts'
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
} from './store/store.ts'
