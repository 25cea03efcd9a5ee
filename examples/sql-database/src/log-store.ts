import {
  type Append,
  type AppendAnswer,
  Fenced,
  type Peer,
  type Promotion,
  type Report,
  type Restoration,
  type Row,
  type Snapshot,
} from './database.ts'

/** The state that survives a restart of the process. */
export interface StoredState {
  readonly id: string
  readonly role: Report['role']
  readonly epoch: number
  readonly revision: number
  readonly rows: readonly Row[]
  readonly synchronous: readonly Peer[]
}

/** Parameters of {@link LogStore}. */
export interface LogStoreParts {
  /** A new unique id, for an instance without saved state. */
  readonly freshId: string
  /** The last saved state, if any. */
  readonly state?: StoredState | undefined
  /** Saves the state. Returns when it is durable. */
  readonly save: (state: StoredState) => void
  /** Sends rows to another instance. */
  readonly send: (peer: Peer, append: Append) => Promise<AppendAnswer>
}

/**
 * A minimal replicated database: rows can be added and read. A row is confirmed when every synchronous replica has it.
 * An instance rejects epochs lower than the highest it has seen, so a primary that was replaced cannot confirm
 * anything.
 */
export class LogStore {
  readonly #parts: LogStoreParts
  readonly #id: string
  #role: Report['role']
  #epoch: number
  #revision: number
  #rows: Row[]
  /** The number of rows that a joining replica must have. Rows of earlier epochs may have been confirmed, so they count. */
  #committed: number
  /** The synchronous replicas and the number of rows that each is known to have. */
  #synchronous: Map<string, { readonly peer: Peer; position: number }>

  constructor(parts: LogStoreParts) {
    const {
      id = parts.freshId,
      role = 'empty',
      epoch = 0,
      revision = 0,
      rows = [],
      synchronous = [],
    } = parts.state ?? {}
    this.#parts = parts
    this.#id = id
    this.#role = role
    this.#epoch = epoch
    this.#revision = revision
    this.#rows = [...rows]
    this.#committed = rows.length
    this.#synchronous = new Map(synchronous.map((peer) => [peer.name, { peer, position: 0 }]))
  }

  report(): Report {
    return {
      id: this.#id,
      role: this.#role,
      epoch: this.#epoch,
      position: this.#rows.length,
      lastEpoch: this.#rows.at(-1)?.epoch ?? 0,
      revision: this.#revision,
      committed: this.#committed,
      synchronous: [...this.#synchronous].map(([name, { position }]) => ({ name, position })),
    }
  }

  /** Resolves after an attempt to replicate to every synchronous replica; the report has their positions. */
  async promote({ epoch, id, revision, synchronous }: Promotion): Promise<void> {
    // A late request could otherwise promote an empty successor of the intended instance.
    this.#assertId(id)
    this.#assertCurrent(epoch)
    const isNew = epoch > this.#epoch
    if (!isNew && this.#role === 'replica') throw new Fenced(`epoch ${epoch} has another primary`)
    if (!isNew && revision < this.#revision)
      throw new Fenced(`revision ${revision} is outdated: the current revision is ${this.#revision}`)
    const before = isNew ? new Map<string, { readonly position: number }>() : this.#synchronous
    this.#synchronous = new Map(
      synchronous.map((peer) => [peer.name, { peer, position: before.get(peer.name)?.position ?? 0 }]),
    )
    if (isNew) this.#committed = this.#rows.length
    this.#epoch = epoch
    this.#revision = revision
    this.#role = 'primary'
    this.#save()
    await this.#replicate()
  }

  snapshot(epoch: number): Snapshot {
    if (this.#role !== 'primary' || this.#epoch !== epoch) throw new Fenced(`not the primary of epoch ${epoch}`)
    return { epoch, rows: [...this.#rows] }
  }

  restore({ epoch, id, rows }: Restoration): void {
    // An instance that lost its data must not be mistaken for the one that was restored and has received rows since.
    this.#assertId(id)
    this.#assertCurrent(epoch)
    // A late snapshot must not undo rows that arrived after it.
    if (epoch === this.#epoch) throw new Fenced(`the instance is already in epoch ${epoch}`)
    this.#becomeReplica(epoch)
    this.#rows = [...rows]
    this.#save()
  }

  append({ epoch, position, previousEpoch, rows }: Append): AppendAnswer {
    this.#assertCurrent(epoch)
    // An instance that lost its data must not be mistaken for one that has every row.
    if (this.#role === 'empty') throw new Fenced('the instance is empty: restore a snapshot first')
    this.#becomeReplica(epoch)
    const agrees = position <= this.#rows.length && (this.#rows[position - 1]?.epoch ?? 0) === previousEpoch
    if (agrees) {
      // Keep rows that match, because this may be an older message. Rows that differ were never confirmed.
      const known = rows.findIndex((row, index) => this.#rows[position + index]?.epoch !== row.epoch)
      if (known >= 0) this.#rows = [...this.#rows.slice(0, position + known), ...rows.slice(known)]
    }
    this.#save()
    return agrees
      ? { isTaken: true, position: position + rows.length }
      : { isTaken: false, position: Math.max(0, Math.min(this.#rows.length, position - 1)) }
  }

  /** Adds a row. Resolves when it is confirmed. If it rejects, the row may or may not be kept. */
  async write(text: string): Promise<void> {
    if (this.#role !== 'primary') throw new Fenced('not the primary')
    const epoch = this.#epoch
    this.#rows.push({ epoch, text })
    const position = this.#rows.length
    this.#save()
    await this.#replicate()
    if (this.#role !== 'primary' || this.#epoch !== epoch) throw new Fenced('no longer the primary')
    if (this.#replicatedEverywhere() < position) throw new Error('not confirmed: a replica does not respond')
  }

  read(): readonly Row[] {
    return [...this.#rows]
  }

  #assertId(id: string): void {
    if (id !== this.#id) throw new Fenced(`instance ${id} no longer exists: this is ${this.#id}`)
  }

  #assertCurrent(epoch: number): void {
    if (epoch < this.#epoch) throw new Fenced(`epoch ${epoch} is outdated: the current epoch is ${this.#epoch}`)
  }

  #becomeReplica(epoch: number): void {
    if (this.#role === 'primary' && epoch === this.#epoch)
      throw new Fenced(`this instance is the primary of epoch ${epoch}`)
    this.#role = 'replica'
    this.#epoch = epoch
    this.#synchronous = new Map()
  }

  async #replicate(): Promise<void> {
    const epoch = this.#epoch
    // A replica that does not respond stays synchronous. Only the operator can decide to remove it.
    await Promise.all(
      [...this.#synchronous.values()].map((replica) => this.#catchUp(replica, epoch).catch(() => undefined)),
    )
    if (this.#role !== 'primary' || this.#epoch !== epoch) return
    this.#committed = Math.max(this.#committed, this.#replicatedEverywhere())
  }

  /** The number of rows that the primary and all synchronous replicas have. */
  #replicatedEverywhere(): number {
    return Math.min(this.#rows.length, ...[...this.#synchronous.values()].map(({ position }) => position))
  }

  async #catchUp(replica: { readonly peer: Peer; position: number }, epoch: number): Promise<void> {
    for (let position = replica.position || this.#rows.length; this.#epoch === epoch && this.#role === 'primary'; ) {
      const rows = this.#rows.slice(position)
      const previousEpoch = this.#rows[position - 1]?.epoch ?? 0
      const answer = await this.#parts.send(replica.peer, { epoch, position, previousEpoch, rows })
      position = answer.position
      if (!answer.isTaken) continue
      replica.position = Math.max(replica.position, position)
      if (replica.position >= this.#rows.length) return
    }
  }

  #save(): void {
    this.#parts.save({
      id: this.#id,
      role: this.#role,
      epoch: this.#epoch,
      revision: this.#revision,
      rows: [...this.#rows],
      synchronous: [...this.#synchronous.values()].map(({ peer }) => peer),
    })
  }
}
