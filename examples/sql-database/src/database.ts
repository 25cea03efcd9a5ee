/** A row and the epoch of the primary that accepted it. */
export interface Row {
  readonly epoch: number
  readonly text: string
}

/** The name and address of another instance. */
export interface Peer {
  readonly name: string
  readonly url: string
}

/** The state that an instance reports. */
export interface Report {
  /** Identifies the instance and its data. A new instance at the same address has another id. */
  readonly id: string
  /** `empty` until the instance is promoted or restored from a snapshot. */
  readonly role: 'empty' | 'primary' | 'replica'
  readonly epoch: number
  /** The number of rows; `lastEpoch` is the epoch of the last one. */
  readonly position: number
  readonly lastEpoch: number
  /** For a primary: the revision of the latest promotion that it accepted. */
  readonly revision: number
  /** For a primary: the number of rows that are confirmed, or may have been confirmed by an earlier primary. */
  readonly committed: number
  /**
   * For a primary: the replicas that must have a row before it is confirmed, and the number of rows they are known to
   * have.
   */
  readonly synchronous: readonly { readonly name: string; readonly position: number }[]
}

/** The complete contents of an instance. */
export interface Snapshot {
  readonly epoch: number
  readonly rows: readonly Row[]
}

/** Replaces the contents of an instance by a snapshot of the primary. */
export interface Restoration extends Snapshot {
  /** The id of the target instance. */
  readonly id: string
}

/** Makes an instance the primary of an epoch, or changes the replicas that the primary waits for. */
export interface Promotion {
  /** The id of the target instance. */
  readonly id: string
  readonly epoch: number
  /** Of two promotions for the same epoch, the one with the higher revision wins, regardless of arrival order. */
  readonly revision: number
  readonly synchronous: readonly Peer[]
}

/** Rows that a primary sends to a replica. */
export interface Append {
  readonly epoch: number
  /** The number of rows before these; `previousEpoch` is the epoch of the last one before them. */
  readonly position: number
  readonly previousEpoch: number
  readonly rows: readonly Row[]
}

/**
 * The response of a replica: whether it took the rows, and the position up to which its rows match, or may match, the
 * primary's.
 */
export interface AppendAnswer {
  readonly isTaken: boolean
  readonly position: number
}

export interface DatabaseCall {
  readonly signal: AbortSignal
}

/**
 * The operations of the operator on instances. Each call goes to the instance at a URL, which rejects it if it has seen
 * a higher epoch.
 */
export interface Database {
  report(url: string, call: DatabaseCall): Promise<Report>
  promote(url: string, promotion: Promotion, call: DatabaseCall): Promise<void>
  /** The contents of the primary of an epoch. */
  snapshot(url: string, epoch: number, call: DatabaseCall): Promise<Snapshot>
  /** Replaces all rows of earlier epochs. The instance is a replica afterwards. */
  restore(url: string, restoration: Restoration, call: DatabaseCall): Promise<void>
}

/** The instance has seen a higher epoch or revision, or is not the intended one. */
export class Fenced extends Error {
  override readonly name = 'Fenced'
}
