// Clients of a store that record what they call and what they get.
import type { Random } from '@kubewright/base'
import { CompactedError, type Entry, FutureRevisionError, StorageError, type Store } from '@kubewright/storage'
import type { Failure, Operation, Seen, WatchCall, WatchEvent, WriteOutcome } from './history.ts'

/** The store that clients use at present. */
export interface Target {
  readonly store: Store
  /** Resolves when the process of the store has ended: calls in progress get no response. */
  readonly down: Promise<'down'>
}

/** What all clients of a run share. */
export interface Workload {
  readonly operations: Operation[]
  readonly watches: WatchCall[]
  readonly keys: readonly string[]
  readonly prefixes: readonly string[]
  /** Whether the interface leaves out previous entries, and the current ones of failed writes. */
  readonly terse: boolean
  /** The compactions of all clients are a share of their calls; 0 for none. */
  readonly compactions: number
  /** The revision at which all keys are absent. */
  readonly start: number
  /** Returns the next number of the counter that orders calls and responses. */
  time(): number
  /** Resolves to the present target as soon as there is one. */
  target(): Promise<Target>
  pause(millis: number): Promise<void>
  /** Whether enough operations were made. */
  isOver(): boolean
}

/** Encodes a value that states its own length, so that a torn one is recognised. */
export const encodeValue = (id: string): Buffer => Buffer.from(`${id}|${'x'.repeat(Number(id.split('.')[2]))}`)

/** The name of a value; the whole value when it is not complete. */
export function decodeValue(value: Uint8Array): string {
  const text = Buffer.from(value).toString('latin1')
  const id = text.slice(0, text.indexOf('|'))
  return /^[^.]+\.\d+\.\d+$/.test(id) && encodeValue(id).equals(value) ? id : `damaged ${text.slice(0, 80)}`
}

const told = (revision: number): number | undefined => (Number.isNaN(revision) ? undefined : revision)

const seen = (entry: Entry | undefined): Seen | undefined =>
  entry && {
    key: entry.key,
    value: decodeValue(entry.value),
    mod: entry.modRevision,
    create: told(entry.createRevision),
  }

/** The process of the store has ended before it responded. */
class DownError extends Error {}

function failureOf(error: unknown): Failure {
  if (error instanceof DownError) return { error: 'failed' }
  if (error instanceof CompactedError) return { error: 'compacted', floor: told(error.compactRevision) }
  if (error instanceof FutureRevisionError) return { error: 'future' }
  if (error instanceof StorageError) return { error: 'failed' }
  throw error
}

/** Reads and writes one call after the other. */
export class RecordedClient {
  readonly #name: string
  readonly #work: Workload
  readonly #random: Random
  readonly #known = new Map<string, number>()
  readonly #home: readonly string[]
  /** The newest revision that it has seen. */
  #newest: number
  #count = 0

  constructor(name: string, work: Workload, random: Random) {
    this.#name = name
    this.#work = work
    this.#random = random
    this.#newest = work.start
    this.#home = random.shuffle(work.keys).slice(0, 2)
  }

  async run(): Promise<void> {
    while (!this.#work.isOver()) {
      await this.#work.pause(this.#random.next() * 4)
      await this.step()
    }
  }

  /** Makes one call, or one for each page of a range. */
  async step(): Promise<void> {
    // Often one of a few keys, so that writes succeed and versions pass quickly.
    const key = this.#random.pick(this.#random.int(2) === 0 ? this.#work.keys : this.#home)
    const action = this.#random.next()
    const expected = this.#known.get(key)
    if (action < this.#work.compactions)
      await this.#compact(Math.max(this.#work.start, this.#newest - this.#random.int(40)))
    else if (action < 0.1 || expected === undefined) await this.get(key)
    else if (action < 0.52) await this.#write(key, this.#newValue(), this.#random.int(12) === 0 ? 0 : expected)
    else if (action < 0.72)
      await (expected > 0 ? this.#write(key, undefined, expected) : this.#write(key, this.#newValue(), 0))
    else if (action < 0.8) await this.get(key, Math.max(this.#work.start, this.#newest + 3 - this.#random.int(60)))
    else await this.list(this.#random.pick(this.#work.prefixes), 1 + this.#random.int(8))
  }

  /** Reads one key, at a revision or at the newest one. */
  async get(key: string, at?: number): Promise<void> {
    const call = this.#work.time()
    const common = { kind: 'read', client: this.#name, call, key, at } as const
    try {
      const { entry, revision } = await this.#call((store) => store.get(key, at === undefined ? {} : { revision: at }))
      if (at === undefined) {
        this.#known.set(key, entry?.modRevision ?? 0)
        this.#notice(revision)
      }
      const outcome = { entry: seen(entry), revision: told(revision) }
      this.#work.operations.push({ ...common, end: this.#work.time(), outcome })
    } catch (error) {
      this.#work.operations.push({ ...common, end: this.#work.time(), outcome: failureOf(error) })
    }
  }

  /** Reads the pages of a prefix, all at the revision of the first one. */
  async list(prefix: string, limit: number): Promise<void> {
    let after = ''
    let at = this.#random.int(4) === 0 ? Math.max(this.#work.start, this.#newest - this.#random.int(40)) : undefined
    for (;;) {
      const call = this.#work.time()
      const common = { kind: 'page', client: this.#name, call, prefix, after, limit, at } as const
      const request = {
        prefix,
        limit,
        ...(after === '' ? {} : { after }),
        ...(at === undefined ? {} : { revision: at }),
      }
      try {
        const { entries, revision, remaining, next } = await this.#call((store) => store.list(request))
        const outcome = { entries: entries.map((entry) => seen(entry)!), revision, remaining }
        this.#work.operations.push({ ...common, end: this.#work.time(), outcome })
        if (at === undefined) {
          this.#notice(revision)
          for (const { key, modRevision } of entries) this.#known.set(key, modRevision)
        }
        if (next === undefined) return
        after = next
        at = revision
        await this.#work.pause(this.#random.next() * 2)
      } catch (error) {
        this.#work.operations.push({ ...common, end: this.#work.time(), outcome: failureOf(error) })
        return
      }
    }
  }

  /** Writes a key, whatever it is, and resolves to the revision. */
  async replace(key: string): Promise<number> {
    for (;;) {
      await this.get(key)
      const expected = this.#known.get(key)
      if (expected !== undefined) await this.#write(key, this.#newValue(), expected)
      const revision = this.#known.get(key)
      if (revision !== undefined && revision !== expected && revision > 0) return revision
      await this.#work.pause(100)
    }
  }

  async #write(key: string, value: string | undefined, expected: number): Promise<void> {
    const call = this.#work.time()
    let outcome: WriteOutcome
    try {
      const result = await this.#call((store) =>
        value === undefined ? store.delete(key, expected) : store.put(key, encodeValue(value), expected),
      )
      const revision = told(result.revision)
      const { terse } = this.#work
      if (revision !== undefined) this.#notice(revision)
      if (result.ok) {
        this.#known.set(key, value === undefined ? 0 : result.revision)
        outcome = { made: true, revision, previous: terse ? 'untold' : seen(result.previous) }
      } else {
        if (terse) this.#known.delete(key)
        else this.#known.set(key, result.current?.modRevision ?? 0)
        outcome = { made: false, revision, current: terse ? 'untold' : seen(result.current) }
      }
    } catch (error) {
      this.#known.delete(key)
      if (!(error instanceof DownError || error instanceof StorageError)) throw error
      outcome = error instanceof DownError || error.code === 'KW_STORAGE_UNCERTAIN' ? 'unknown' : 'refused'
    }
    this.#work.operations.push({
      kind: 'write',
      client: this.#name,
      call,
      end: this.#work.time(),
      key,
      value,
      expected,
      outcome,
    })
  }

  async #compact(revision: number): Promise<void> {
    const call = this.#work.time()
    const made = await this.#call((store) => store.compact(revision)).then(
      () => true,
      (error: unknown) => {
        failureOf(error)
        return false
      },
    )
    this.#work.operations.push({ kind: 'compact', client: this.#name, call, end: this.#work.time(), revision, made })
  }

  async #call<T>(call: (store: Store) => Promise<T>): Promise<T> {
    const { store, down } = await this.#work.target()
    const result = await Promise.race([call(store), down])
    if (result === 'down') throw new DownError()
    return result
  }

  #newValue(): string {
    // Most values are small, some have several sectors.
    const length = this.#random.int(5) === 0 ? this.#random.int(2500) : this.#random.int(100)
    return `${this.#name}.${this.#count++}.${length}`
  }

  #notice(revision: number): void {
    if (revision > this.#newest) this.#newest = revision
  }
}

/** Watches a prefix, and resumes after every end where the last watch has ended. */
export class RecordedWatcher {
  readonly #name: string
  readonly #work: Workload
  readonly #random: Random
  readonly prefix: string
  #reached: number
  #session: AbortController | undefined
  #isStopped = false

  constructor(name: string, work: Workload, random: Random, prefix: string, after: number) {
    this.#name = name
    this.#work = work
    this.#random = random
    this.prefix = prefix
    this.#reached = after
  }

  /** Every change up to this revision was delivered. */
  get reached(): number {
    return this.#reached
  }

  async run(): Promise<void> {
    while (!this.#isStopped) {
      const failure = await this.#watch()
      if (failure?.error === 'compacted') await this.#startAnew()
      else await this.#work.pause(this.#random.next() * 10)
    }
  }

  stop(): void {
    this.#isStopped = true
    this.#session?.abort()
  }

  /** History is gone: continue with the newest revision, as a client that lists again. */
  async #startAnew(): Promise<void> {
    try {
      const { store, down } = await this.#work.target()
      const revision = await Promise.race([store.list({ prefix: this.prefix, limit: 1 }), down])
      if (revision !== 'down') this.#reached = Math.max(this.#reached, revision.revision)
    } catch (error) {
      failureOf(error)
    }
  }

  async #watch(): Promise<Failure | undefined> {
    const { store, down } = await this.#work.target()
    const session = new AbortController()
    this.#session = session
    if (this.#isStopped) return undefined
    const call = this.#work.time()
    const after = this.#reached
    const events: WatchEvent[] = []
    let failure: Failure | undefined
    // Some watches end early, to be resumed.
    let batches = this.#random.int(3) === 0 ? 1 + this.#random.int(10) : Number.POSITIVE_INFINITY
    try {
      const iterator = store.watch({ prefix: this.prefix, after, signal: session.signal })[Symbol.asyncIterator]()
      while (batches-- > 0) {
        const result = await Promise.race([iterator.next(), down])
        if (result === 'down') throw new DownError()
        if (result.done) break
        for (const { type, key, revision, entry, previous } of result.value.changes) {
          const value = entry && decodeValue(entry.value)
          events.push({ type, key, revision, value, previous: this.#work.terse ? 'untold' : seen(previous) })
        }
        this.#reached = Math.max(this.#reached, result.value.revision)
        if (this.#random.int(8) === 0) await this.#work.pause(this.#random.next() * 60)
      }
      if (!session.signal.aborted) void iterator.return?.()
    } catch (error) {
      failure = failureOf(error)
    }
    session.abort()
    const end = this.#work.time()
    const until = this.#reached
    this.#work.watches.push({
      kind: 'watch',
      client: this.#name,
      call,
      end,
      prefix: this.prefix,
      after,
      events,
      until,
      failure,
    })
    return failure
  }
}
