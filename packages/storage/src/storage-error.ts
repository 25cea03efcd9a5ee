import { KubewrightError } from '@kubewright/base'

/** Why a store refused or failed. */
export type StorageErrorCode =
  /** The revision asked for has been compacted. */
  | 'KW_STORAGE_COMPACTED'
  /** The revision asked for has not happened yet. */
  | 'KW_STORAGE_FUTURE'
  /** The write failed and was not made. */
  | 'KW_STORAGE_WRITE'
  /** The connection broke before the answer came: the write may have been made. */
  | 'KW_STORAGE_UNCERTAIN'
  /** The store cannot be reached at the moment. */
  | 'KW_STORAGE_UNAVAILABLE'
  /** The folder holds something that this store cannot have written, or that was damaged. */
  | 'KW_STORAGE_CORRUPT'
  /** The folder cannot be written to. */
  | 'KW_STORAGE_FOLDER'
  /** Another process has the folder open. */
  | 'KW_STORAGE_LOCKED'
  /** The store was closed. */
  | 'KW_STORAGE_CLOSED'

/** A failure of the store itself, as opposed to a condition that did not hold. */
export class StorageError extends KubewrightError {
  declare readonly code: StorageErrorCode

  constructor(code: StorageErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options)
    this.name = 'StorageError'
  }
}

/** The revision asked for is older than the compacted one. */
export class CompactedError extends StorageError {
  /** The oldest revision that can still be read. */
  readonly compactRevision: number

  constructor(wanted: number, compactRevision: number) {
    super(
      'KW_STORAGE_COMPACTED',
      `Cannot read revision ${wanted} as it has been compacted: the oldest revision is ${compactRevision}`,
    )
    this.name = 'CompactedError'
    this.compactRevision = compactRevision
  }
}

/** The revision asked for is newer than the newest. */
export class FutureRevisionError extends StorageError {
  readonly currentRevision: number

  constructor(wanted: number, currentRevision: number) {
    super(
      'KW_STORAGE_FUTURE',
      `Cannot read revision ${wanted} as it has not happened yet: the newest revision is ${currentRevision}`,
    )
    this.name = 'FutureRevisionError'
    this.currentRevision = currentRevision
  }
}
