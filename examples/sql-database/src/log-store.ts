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

/** What outlives the process. */
export interface StoredState {
  readonly id: string
  readonly role: Report['role']
  readonly epoch: number
  readonly revision: number
  readonly rows: readonly Row[]
  readonly synchronous: readonly Peer[]
}

/** What a {@link LogStore} needs of the world. */
export interface LogStoreParts {
  /** An id that nobody else ever had, for an instance that has no state. */
  readonly freshId: string
  /** What was saved last, if anything. */
  readonly state?: StoredState | undefined
  /** Returns when the state is safe. */
  readonly save: (state: StoredState) => void
  /** Sends rows to another instance. */
  readonly send: (peer: Peer, append: Append) => Promise<AppendAnswer>
}

/**
 * The smallest database that has a primary and replicas: rows can be added and read. A row is confirmed when everybody has it whom the
 * primary must wait for. Nobody obeys an epoch lower than the highest seen, so a primary that was replaced cannot confirm anything.
 */
export class LogStore {
  readonly #parts: LogStoreParts
  readonly #id: string
  #role: Report['role']
  #epoch: number
  #revision: number
  #rows: Row[]
  /** What newcomers must have. Of rows from before it is not known whether they were confirmed, so they count. */
  #committed: number
  /** Whom to wait for, and how many rows each has for certain. */
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

  /** Resolves when everybody to wait for has been tried; the report tells who has what. */
  async promote({ epoch, id, revision, synchronous }: Promotion): Promise<void> {
    // A request that comes late could make one primary that has none of what the one before it had.
    this.#answerTo(id)
    this.#obey(epoch)
    const isNew = epoch > this.#epoch
    if (!isNew && this.#role === 'replica') throw new Fenced(`epoch ${epoch} has another primary`)
    if (!isNew && revision < this.#revision) throw new Fenced(`revision ${revision} is over: this is ${this.#revision}`)
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
    // One that has lost everything must not be taken for the one that was fed, and got the rest since then.
    this.#answerTo(id)
    this.#obey(epoch)
    // A snapshot that comes late must not undo what came after it.
    if (epoch === this.#epoch) throw new Fenced(`it is in epoch ${epoch} already`)
    this.#becomeReplica(epoch)
    this.#rows = [...rows]
    this.#save()
  }

  append({ epoch, position, previousEpoch, rows }: Append): AppendAnswer {
    this.#obey(epoch)
    // One that has lost everything must not pass for one that has it all.
    if (this.#role === 'empty') throw new Fenced('nothing is here yet: feed it first')
    this.#becomeReplica(epoch)
    const agrees = position <= this.#rows.length && (this.#rows[position - 1]?.epoch ?? 0) === previousEpoch
    if (agrees) {
      // What is the same stays: this may be an older message. What differs was never confirmed.
      const known = rows.findIndex((row, index) => this.#rows[position + index]?.epoch !== row.epoch)
      if (known >= 0) this.#rows = [...this.#rows.slice(0, position + known), ...rows.slice(known)]
    }
    this.#save()
    return agrees
      ? { isTaken: true, position: position + rows.length }
      : { isTaken: false, position: Math.max(0, Math.min(this.#rows.length, position - 1)) }
  }

  /** Adds a row. Resolves when it is confirmed; if it rejects, the row may be kept or not. */
  async write(text: string): Promise<void> {
    if (this.#role !== 'primary') throw new Fenced('not the primary')
    const epoch = this.#epoch
    this.#rows.push({ epoch, text })
    const position = this.#rows.length
    this.#save()
    await this.#replicate()
    if (this.#role !== 'primary' || this.#epoch !== epoch) throw new Fenced('no longer the primary')
    if (this.#everywhere() < position) throw new Error('not confirmed: a replica does not answer')
  }

  read(): readonly Row[] {
    return [...this.#rows]
  }

  #answerTo(id: string): void {
    if (id !== this.#id) throw new Fenced(`${id} is no longer here: this is ${this.#id}`)
  }

  #obey(epoch: number): void {
    if (epoch < this.#epoch) throw new Fenced(`epoch ${epoch} is over: this is ${this.#epoch}`)
  }

  #becomeReplica(epoch: number): void {
    if (this.#role === 'primary' && epoch === this.#epoch) throw new Fenced(`the primary of epoch ${epoch} is here`)
    this.#role = 'replica'
    this.#epoch = epoch
    this.#synchronous = new Map()
  }

  async #replicate(): Promise<void> {
    const epoch = this.#epoch
    // Those who do not answer are waited for; who may stop waiting is the operator's decision.
    await Promise.all([...this.#synchronous.values()].map((one) => this.#bringUp(one, epoch).catch(() => undefined)))
    if (this.#role !== 'primary' || this.#epoch !== epoch) return
    this.#committed = Math.max(this.#committed, this.#everywhere())
  }

  /** How many rows everybody has. */
  #everywhere(): number {
    return Math.min(this.#rows.length, ...[...this.#synchronous.values()].map(({ position }) => position))
  }

  async #bringUp(one: { readonly peer: Peer; position: number }, epoch: number): Promise<void> {
    for (let position = one.position || this.#rows.length; this.#epoch === epoch && this.#role === 'primary'; ) {
      const rows = this.#rows.slice(position)
      const previousEpoch = this.#rows[position - 1]?.epoch ?? 0
      const answer = await this.#parts.send(one.peer, { epoch, position, previousEpoch, rows })
      position = answer.position
      if (!answer.isTaken) continue
      one.position = Math.max(one.position, position)
      if (one.position >= this.#rows.length) return
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
