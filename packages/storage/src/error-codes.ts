import type { StorageErrorCode } from './store/storage-error.ts'

/** The codes of the errors that this package throws, and their meaning. */
export const storageErrorCodes: Readonly<Record<StorageErrorCode, string>> = Object.freeze({
  KW_STORAGE_CLOSED: 'The store was used after it was closed.',
  KW_STORAGE_COMPACTED: 'The requested revision was compacted. List again and continue from there.',
  KW_STORAGE_CORRUPT: 'The folder contains foreign or damaged files.',
  KW_STORAGE_FOLDER: 'The folder of a store cannot be created or written to. The message has the reason.',
  KW_STORAGE_FORMAT: 'The folder or backup has a newer format than this version can read.',
  KW_STORAGE_FUTURE: 'The requested revision does not exist yet.',
  KW_STORAGE_LOCKED: 'Another process has the folder open.',
  KW_STORAGE_UNAVAILABLE: 'The store cannot be reached at the moment. Nothing was written.',
  KW_STORAGE_UNCERTAIN: 'The response to a write was lost. The write may or may not have been made.',
  KW_STORAGE_WRITE: 'The write failed. Nothing was written.',
})
