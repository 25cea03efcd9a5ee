import { KubewrightError } from '@kubewright/base'

/** The reason of a {@link StorageError}. */
export type StorageErrorCode =
  /** The requested revision was compacted. */
  | 'KW_STORAGE_COMPACTED'
  /** The requested revision does not exist yet. */
  | 'KW_STORAGE_FUTURE'
  /** The write failed. Nothing was written. */
  | 'KW_STORAGE_WRITE'
  /** The response to a write was lost. The write may or may not have been made. */
  | 'KW_STORAGE_UNCERTAIN'
  /** The store cannot be reached at the moment. */
  | 'KW_STORAGE_UNAVAILABLE'
  /** The folder contains foreign or damaged files. */
  | 'KW_STORAGE_CORRUPT'
  /** The folder or backup has a newer format than this version can read. */
  | 'KW_STORAGE_FORMAT'
  /** The folder cannot be written to. */
  | 'KW_STORAGE_FOLDER'
  /** Another process has the folder open. */
  | 'KW_STORAGE_LOCKED'
  /** The store was closed. */
  | 'KW_STORAGE_CLOSED'

/** A failure of the store, as opposed to a write condition that does not hold. */
export class StorageError extends KubewrightError {
  declare readonly code: StorageErrorCode
  /** The reason in a few words, without the paths that the message may have; undefined if there is no such text. */
  readonly reason: string | undefined

  constructor(code: StorageErrorCode, message: string, options?: { cause?: unknown; reason?: string | undefined }) {
    super(code, message, options)
    this.name = 'StorageError'
    this.reason = options?.reason
  }
}

/** The requested revision is older than the compacted one. */
export class CompactedError extends StorageError {
  /** The oldest revision that can still be read. */
  readonly compactRevision: number

  constructor(wanted: number, compactRevision: number) {
    super(
      'KW_STORAGE_COMPACTED',
      `Cannot read revision ${wanted} as it was compacted: the oldest revision is ${compactRevision}`,
    )
    this.name = 'CompactedError'
    this.compactRevision = compactRevision
  }
}

/** The requested revision is newer than the newest one. */
export class FutureRevisionError extends StorageError {
  readonly currentRevision: number

  constructor(wanted: number, currentRevision: number) {
    super(
      'KW_STORAGE_FUTURE',
      `Cannot read revision ${wanted} as it does not exist yet: the newest revision is ${currentRevision}`,
    )
    this.name = 'FutureRevisionError'
    this.currentRevision = currentRevision
  }
}
