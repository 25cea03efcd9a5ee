// Checks the record of concurrent clients against the contract of stores.
import type { History, Operation, PageCall, ReadCall, Seen, Violation, WatchCall, WriteCall } from './history.ts'
import { findUnexplained, isSame, type KeyCall } from './linearize.ts'

/** A change that is known to have been made, and the calls that saw it. */
interface Effect {
  readonly key: string
  readonly value: string | undefined
  readonly revision: number
  readonly source: Operation | WatchCall
}

/** A version of a key. It exists from `from` to before `to`, and possibly longer or shorter by an unseen deletion. */
interface Version {
  readonly entry: Seen | undefined
  readonly from: number
  readonly to: number
  /** Whether the key was deleted at an unknown revision between the two. */
  readonly mayEnd: boolean
}

/** A response with a revision, and the largest one up to it. */
interface Sighting {
  readonly call: Operation
  readonly revision: number
  readonly end: number
}

/** Returns all contradictions, the clearest first. Empty for a store that keeps its contract. */
export function checkHistory(history: History): readonly Violation[] {
  return new HistoryCheck(history).run()
}

class HistoryCheck {
  readonly #history: History
  readonly #found: Violation[] = []
  readonly #writes: ReadonlyMap<string, WriteCall>
  /** The revision at which each value was written. */
  readonly #revisions = new Map<string, number>()
  readonly #effects = new Map<number, Effect>()
  readonly #versions = new Map<string, Version[]>()

  constructor(history: History) {
    this.#history = history
    const values = history.operations.flatMap((call) =>
      call.kind === 'write' && call.value !== undefined ? [[call.value, call] as const] : [],
    )
    this.#writes = new Map(values)
  }

  run(): readonly Violation[] {
    this.#collectEffects()
    this.#checkSightings()
    this.#checkKeys()
    this.#checkOrder()
    this.#buildVersions()
    this.#checkDensity()
    for (const call of this.#history.operations) {
      if (call.kind === 'page') this.#checkPage(call)
      if (call.kind === 'read') this.#checkRead(call)
    }
    for (const watch of this.#history.watches) this.#checkWatch(watch)
    this.#checkCompactions()
    return this.#found
  }

  #report(rule: Violation['rule'], message: string, ...part: readonly (Operation | WatchCall | undefined)[]): void {
    const calls = part.filter((call) => call !== undefined)
    this.#found.push({ rule, message, part: calls.sort((a, b) => a.call - b.call) })
  }

  #addEffect(effect: Effect): void {
    const known = this.#effects.get(effect.revision)
    if (known && (known.key !== effect.key || known.value !== effect.value)) {
      const show = ({ key, value }: Effect): string =>
        value === undefined ? `the deletion of ${key}` : `${key}=${value}`
      const text = `revision ${effect.revision} is ${show(known)} and ${show(effect)}`
      this.#report('no revision twice', text, known.source, effect.source)
    }
    if (!known) this.#effects.set(effect.revision, effect)
    if (effect.value !== undefined) this.#addValue(effect.value, effect.revision, effect.source)
  }

  #addValue(value: string, revision: number, source: Operation | WatchCall): void {
    const known = this.#revisions.get(value)
    if (known === undefined) this.#revisions.set(value, revision)
    else if (known !== revision)
      this.#report(
        'no revision twice',
        `${value} was written at ${known} and at ${revision}`,
        this.#writes.get(value),
        source,
      )
    const write = this.#writes.get(value)
    if (!write || write.outcome === 'refused') {
      const why = write ? 'the store stated that it was not written' : 'nobody wrote it'
      this.#report('known values', `${value} was seen, but ${why}`, write, source)
    }
  }

  #collectEffects(): void {
    for (const call of this.#history.operations) {
      if (call.kind !== 'write' || typeof call.outcome === 'string' || !call.outcome.made) continue
      const { key, value, outcome } = call
      if (outcome.revision !== undefined) this.#addEffect({ key, value, revision: outcome.revision, source: call })
    }
    for (const watch of this.#history.watches)
      for (const { key, value, revision } of watch.events) this.#addEffect({ key, value, revision, source: watch })
  }

  /** Entries that reads returned are effects, too: of writes whose outcome is unknown, perhaps. */
  #checkSightings(): void {
    const see = (seen: Seen | undefined | 'untold', source: Operation | WatchCall): void => {
      if (seen === undefined || seen === 'untold') return
      this.#addEffect({ key: seen.key, value: seen.value, revision: seen.mod, source })
    }
    for (const call of this.#history.operations) {
      if (call.kind === 'compact' || call.outcome === 'refused' || call.outcome === 'unknown') continue
      const { outcome } = call
      if ('error' in outcome) continue
      if ('made' in outcome) see(outcome.made ? outcome.previous : outcome.current, call)
      else if ('entries' in outcome) for (const entry of outcome.entries) see(entry, call)
      else see(outcome.entry, call)
    }
    for (const watch of this.#history.watches) for (const { previous } of watch.events) see(previous, watch)
  }

  #checkKeys(): void {
    const byKey = new Map<string, KeyCall[]>()
    for (const call of this.#history.operations) {
      if (call.kind !== 'write' && call.kind !== 'read') continue
      const calls = byKey.get(call.key) ?? []
      byKey.set(call.key, calls)
      calls.push(call)
    }
    for (const [key, calls] of byKey) {
      const part = findUnexplained(calls, (value) => this.#revisions.get(value))
      if (part) this.#report('linearizable', `no order of the calls to ${key} explains their outcomes`, ...part)
    }
  }

  /** A call that starts after another one has ended must not see an older revision than that one. */
  #checkOrder(): void {
    for (const call of this.#history.operations) {
      const revision = newestSeen(call)
      const before = this.#newestBefore(call.call)
      if (revision === undefined || before === undefined || revision > before.revision) continue
      if (revision === before.revision && !(call.kind === 'write' && isMade(call))) continue
      const text = `revision ${revision} follows revision ${before.revision}, which was seen before`
      this.#report('real-time order', text, before.call, call)
    }
  }

  /** The response with the largest revision before a time. */
  #newestBefore(time: number): Sighting | undefined {
    if (!this.#sightings) {
      const all = this.#history.operations.flatMap((call) => {
        const revision = newestSeen(call)
        return revision === undefined ? [] : [{ call, revision, end: call.end }]
      })
      this.#sightings = []
      let newest: Sighting | undefined
      for (const one of all.sort((a, b) => a.end - b.end)) {
        if (!newest || one.revision > newest.revision) newest = one
        this.#sightings.push({ ...newest, end: one.end })
      }
    }
    return this.#sightings[lastIndex(this.#sightings, ({ end }) => end < time)]
  }

  #sightings: Sighting[] | undefined

  #buildVersions(): void {
    const byKey = new Map<string, Effect[]>()
    for (const effect of [...this.#effects.values()].sort((a, b) => a.revision - b.revision)) {
      const list = byKey.get(effect.key) ?? []
      byKey.set(effect.key, list)
      list.push(effect)
    }
    for (const [key, effects] of byKey) {
      const versions: Version[] = [{ entry: undefined, from: 0, to: effects[0]!.revision, mayEnd: false }]
      let create: number | undefined
      for (const [i, { value, revision }] of effects.entries()) {
        const next = effects[i + 1]
        const write = value === undefined ? undefined : this.#writes.get(value)
        if (write?.expected === 0) create = revision
        const entry = value === undefined ? undefined : { key, value, mod: revision, create }
        const nextWrite = next?.value === undefined ? undefined : this.#writes.get(next.value)
        // The next write is a creation, or there is none: the key may have been deleted by a call without a known revision.
        const mayEnd =
          entry !== undefined && (next ? nextWrite?.expected === 0 : true) && this.#isDeletedSomewhere(key, revision)
        versions.push({ entry, from: revision, to: next?.revision ?? Number.POSITIVE_INFINITY, mayEnd })
      }
      this.#versions.set(key, versions)
    }
  }

  /** Whether a deletion of this version may have been made at a revision that nobody saw. */
  #isDeletedSomewhere(key: string, mod: number): boolean {
    this.#deletions ??= new Set(
      this.#history.operations.flatMap((call) => {
        if (call.kind !== 'write' || call.value !== undefined || call.outcome === 'refused') return []
        const isUnseen = call.outcome === 'unknown' || (call.outcome.made && call.outcome.revision === undefined)
        return isUnseen ? [`${call.expected} ${call.key}`] : []
      }),
    )
    return this.#deletions.has(`${mod} ${key}`)
  }

  #deletions: ReadonlySet<string> | undefined

  /** Every revision of a dense history is a write. Only a deletion leaves no value behind. */
  #checkDensity(): void {
    if (!this.#history.dense) return
    const revisions = [...this.#effects.keys()].sort((a, b) => a - b)
    let expected = this.#history.start + 1
    for (const revision of revisions) {
      for (; expected < revision; expected++) {
        const missing = expected
        const isDeletion = [...this.#versions.values()].some((versions) =>
          versions.some(({ mayEnd, from, to }) => mayEnd && from < missing && missing < to),
        )
        if (!isDeletion) {
          const { source } = this.#effects.get(revision)!
          this.#report('no revision twice', `revision ${missing} is missing before ${revision}`, source)
        }
      }
      expected = revision + 1
    }
  }

  /** The possible entries of a key at a revision. */
  #entriesAt(key: string, revision: number): readonly (Seen | undefined)[] {
    const versions = this.#versions.get(key) ?? []
    const version = versions[lastIndex(versions, ({ from }) => from <= revision)]
    if (!version) return [undefined]
    return version.mayEnd && revision > version.from ? [version.entry, undefined] : [version.entry]
  }

  #checkPage(call: PageCall): void {
    const { outcome, prefix, after, limit } = call
    if ('error' in outcome) return
    const { entries, revision, remaining } = outcome
    if (call.at !== undefined && revision !== call.at)
      this.#report('one revision', `a page at ${call.at} has the revision ${revision}`, call)
    let isSorted = true
    for (const [i, entry] of entries.entries()) {
      const isRight = entry.key.startsWith(prefix) && entry.key > after && (i === 0 || entries[i - 1]!.key < entry.key)
      isSorted &&= isRight
    }
    if (!isSorted || entries.length > limit) this.#report('one revision', 'a page has wrong keys', call)
    const shown = new Map(entries.map((entry) => [entry.key, entry]))
    const last = entries.at(-1)?.key ?? after
    let least = 0
    let most = 0
    for (const key of this.#versions.keys()) {
      if (!key.startsWith(prefix) || key <= after) continue
      const possible = this.#entriesAt(key, revision)
      if (key > last && remaining > 0) {
        if (possible.every((entry) => entry !== undefined)) least++
        if (possible.some((entry) => entry !== undefined)) most++
      } else if (!possible.some((entry) => isSame(entry, shown.get(key)))) {
        const text = `at revision ${revision}, ${key} was ${show(possible[0])}, but the page has ${show(shown.get(key))}`
        this.#report('one revision', text, call, this.#effects.get(possible[0]?.mod ?? -1)?.source)
      }
    }
    if (remaining > 0 && (remaining < least || remaining > most))
      this.#report('one revision', `a page states that ${remaining} keys follow, but ${least} do`, call)
  }

  #checkRead(call: ReadCall): void {
    const { outcome, key, at } = call
    if ('error' in outcome) return
    const revision = at ?? outcome.revision
    if (revision === undefined) return
    const possible = this.#entriesAt(key, revision)
    if (possible.some((entry) => isSame(entry, outcome.entry))) return
    const text = `at revision ${revision}, ${key} was ${show(possible[0])}, but the read has ${show(outcome.entry)}`
    this.#report('one revision', text, call, this.#effects.get(possible[0]?.mod ?? -1)?.source)
  }

  #checkWatch(watch: WatchCall): void {
    const { prefix, after, until, events } = watch
    const delivered = new Set<number>()
    let last = after
    for (const { key, revision, previous } of events) {
      if (!key.startsWith(prefix)) this.#report('watch', `an event of ${key} in a watch of ${prefix}`, watch)
      if (revision <= last)
        this.#report('watch', `the event of revision ${revision} comes after that of revision ${last}`, watch)
      last = Math.max(last, revision)
      delivered.add(revision)
      if (previous === 'untold') continue
      const before = this.#entriesAt(key, revision - 1)
      if (!before.some((entry) => isSame(entry, previous)))
        this.#report(
          'watch',
          `before revision ${revision}, ${key} was ${show(before[0])}, not ${show(previous)}`,
          watch,
        )
    }
    for (const [revision, { key, source }] of this.#effects) {
      if (revision <= after || revision > until || !key.startsWith(prefix) || delivered.has(revision)) continue
      this.#report('watch', `the change of ${key} at revision ${revision} was not delivered`, watch, source)
    }
  }

  #checkCompactions(): void {
    const { operations, watches, restarts, trims } = this.#history
    const compactions = operations.filter((call) => call.kind === 'compact')
    const reads = [...operations.filter((call) => call.kind === 'read' || call.kind === 'page'), ...watches]
    const newest = Math.max(this.#history.start, ...this.#effects.keys())
    for (const call of reads) {
      const wanted = call.kind === 'watch' ? call.after : call.at
      const failure = call.kind === 'watch' ? call.failure : 'error' in call.outcome ? call.outcome : undefined
      const before = this.#newestBefore(call.call)
      if (failure?.error === 'future' && (wanted ?? 0) <= (before?.revision ?? this.#history.start))
        this.#report('compaction', `revision ${wanted} is not in the future`, before?.call, call)
      if (failure?.error === 'compacted') {
        // A watch may fail later, after it has advanced.
        const reached = call.kind === 'watch' ? call.until : (wanted ?? newest)
        const isAllowed =
          trims ||
          compactions.some(({ revision, call: time }) => time < call.end && revision > reached) ||
          restarts.some(({ time, floor }) => time < call.end && floor > reached)
        if (!isAllowed) this.#report('compaction', `revision ${reached} was not compacted`, call)
        if (failure.floor !== undefined && failure.floor <= reached)
          this.#report('compaction', `revision ${reached} is not below the compacted one, ${failure.floor}`, call)
      }
      if (failure !== undefined || wanted === undefined || call.kind === 'watch') continue
      const over = compactions.find(({ made, revision, end }) => made && revision > wanted && end < call.call)
      // A store may forget a compaction when it restarts.
      if (over && !restarts.some(({ time }) => time > over.end && time < call.end))
        this.#report('compaction', `revision ${wanted} was read after it was compacted`, over, call)
    }
  }
}

/** The index of the last item with a property that the first items have and the others do not; -1 when none has it. */
function lastIndex<T>(items: readonly T[], has: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (has(items[middle]!)) low = middle + 1
    else high = middle
  }
  return low - 1
}

const isMade = ({ outcome }: WriteCall): boolean => typeof outcome !== 'string' && outcome.made

/** The newest revision that a response has; undefined when it does not tell one. */
function newestSeen(call: Operation): number | undefined {
  if (call.kind === 'compact' || typeof call.outcome === 'string' || 'error' in call.outcome) return undefined
  if ('at' in call && call.at !== undefined) return undefined
  return call.outcome.revision
}

const show = (entry: Seen | undefined): string =>
  entry === undefined ? 'absent' : `${entry.value} (${entry.create}/${entry.mod})`
