import type { StorageErrorCode } from './storage-error.ts'

/** The codes of the errors that this package throws, and what each means. */
export const storageErrorCodes: Readonly<Record<StorageErrorCode, string>> = Object.freeze({
  KW_STORAGE_CLOSED: 'The store was used after it had been closed.',
  KW_STORAGE_COMPACTED: 'The revision asked for is no longer kept: list again and go on from there.',
  KW_STORAGE_CORRUPT: 'The folder holds something that this store cannot have written, or that was damaged.',
  KW_STORAGE_FOLDER: 'The folder of a store cannot be made or written to; the message says why.',
  KW_STORAGE_FUTURE: 'The revision asked for has not happened yet.',
  KW_STORAGE_LOCKED: 'Another process has the folder open.',
  KW_STORAGE_UNAVAILABLE: 'The store cannot be reached at the moment; nothing was written.',
  KW_STORAGE_UNCERTAIN: 'The answer to a write was lost: it may or may not have been made.',
  KW_STORAGE_WRITE: 'The write failed and was not made.',
})
