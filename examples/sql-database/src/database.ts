/** A row, and the epoch of the primary that took it. */
export interface Row {
  readonly epoch: number
  readonly text: string
}

/** Another instance and where it is. */
export interface Peer {
  readonly name: string
  readonly url: string
}

/** What an instance says about itself. */
export interface Report {
  /** Its own for as long as it has its data; whoever comes after it, at the same address, has another. */
  readonly id: string
  /** `empty` until it was made a primary or fed with a snapshot. */
  readonly role: 'empty' | 'primary' | 'replica'
  readonly epoch: number
  /** How many rows it has, and the epoch of the last one. */
  readonly position: number
  readonly lastEpoch: number
  /** Of a primary: the latest word on whom to wait for. */
  readonly revision: number
  /** Of a primary: how many rows are confirmed, or may have been by a primary before. */
  readonly committed: number
  /** Of a primary: those that must have a row before it is confirmed, and how many rows they have for certain. */
  readonly synchronous: readonly { readonly name: string; readonly position: number }[]
}

/** All that an instance knows. */
export interface Snapshot {
  readonly epoch: number
  readonly rows: readonly Row[]
}

/** Gives an instance what the primary has. */
export interface Restoration extends Snapshot {
  /** The id of the instance that is meant. */
  readonly id: string
}

/** Makes an instance the primary of an epoch, or tells the primary whom to wait for from now on. */
export interface Promotion {
  /** The id of the instance that is meant. */
  readonly id: string
  readonly epoch: number
  /** Of two promotions for one epoch the one with the higher revision counts, whichever comes first. */
  readonly revision: number
  readonly synchronous: readonly Peer[]
}

/** Rows on their way from a primary to a replica. */
export interface Append {
  readonly epoch: number
  /** How many rows come before these, and the epoch of the last one of them. */
  readonly position: number
  readonly previousEpoch: number
  readonly rows: readonly Row[]
}

/** What a replica answers: the position up to which it agrees, or up to which it might. */
export interface AppendAnswer {
  readonly isTaken: boolean
  readonly position: number
}

export interface DatabaseCall {
  readonly signal: AbortSignal
}

/** What an operator does with instances. Every call is made to the one at a URL, and refused if it has seen a higher epoch. */
export interface Database {
  report(url: string, call: DatabaseCall): Promise<Report>
  promote(url: string, promotion: Promotion, call: DatabaseCall): Promise<void>
  /** Everything that the primary of an epoch has. */
  snapshot(url: string, epoch: number, call: DatabaseCall): Promise<Snapshot>
  /** Replaces all that an instance has from earlier epochs; it is a replica then. */
  restore(url: string, restoration: Restoration, call: DatabaseCall): Promise<void>
}

/** Thrown by an instance that has seen a higher epoch, or is not what the caller thinks. */
export class Fenced extends Error {
  override readonly name = 'Fenced'
}
