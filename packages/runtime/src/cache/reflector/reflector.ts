import {
  compareResourceVersions,
  findCause,
  formatGroupResource,
  isApiError,
  isBadRequest,
  isComparableResourceVersion,
  isInvalid,
  isMethodNotSupported,
  isTooManyRequests,
  type KubeObject,
  suggestedDelaySeconds,
} from '@kubewright/api'
import { Backoff, type Clock, type Duration, type Logger, type Random, toMillis } from '@kubewright/base'
import { BytePool } from '../store/byte-pool.ts'
import { type Item, isEncoded, keyOfItem, versionOfItem } from '../store/item.ts'
import type { DeltaTarget } from './delta-fifo.ts'
import { isExpired, listAll } from './list-all.ts'
import type { ListWatch, WatchEvent } from './list-watch.ts'
import { describeFailure, type ReflectedResource, type ReflectorHealth } from './reflector-health.ts'
import { WatchReader } from './watch-reader.ts'

/** What a reflector is made of. */
export interface ReflectorOptions<T extends KubeObject> {
  readonly source: ListWatch<T>
  readonly target: DeltaTarget<T>
  readonly resource: ReflectedResource
  /** What the objects of a watch must be; others are dropped with a line in the log. @default whatever has a name */
  readonly expected?: { readonly apiVersion: string; readonly kind: string }
  /** Called once for each object that arrives, before anything is done with it; what it gives goes to the target. */
  readonly prepare?: (item: Item<T>) => Item<T>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Whether to ask for the initial state as a stream first. @default true */
  readonly useWatchList?: boolean
  /** How long that stream may be silent before its end mark; then the state is listed. @default 10 s */
  readonly watchListSilence?: Duration
  /** How long that stream may take as a whole. @default 2 min */
  readonly watchListDeadline?: Duration
  /** How long one page of a list may take. @default 2 min */
  readonly listDeadline?: Duration
  /** Watches are ended by the server after this time up to twice of it. @default 5 min */
  readonly watchTimeout?: Duration
  /** @default 500 */
  readonly pageSize?: number
  /** Told about every change of the health. */
  readonly onHealth?: (health: ReflectorHealth) => void
}

// client-go's numbers: tools/cache/reflector.go.
const backoffOptions = { duration: 800, factor: 2, jitter: 1, steps: 38, cap: '30s' } as const
const backoffQuiet = 120_000
// What a server gets beyond the end that it was asked for, before its watch counts as stalled.
const stallGrace = 30_000
const shortWatch = 1000
const maxCuts = 3

/**
 * Keeps a target equal to a resource of an API server: lists, watches, and does so again from the last version whenever the watch
 * ends. It never gives up and never waits without a limit; what keeps it from working is in `health` and in the log.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>
  readonly #log: Logger
  readonly #backoff: Backoff
  #lastBackoff = Number.NEGATIVE_INFINITY
  // The newest version that the target has everything up to; empty before the first list.
  #version = ''
  // Set when the server no longer has, or not yet has, #version: the next request asks for the newest state instead.
  #versionUnavailable = false
  #watchListWorks: boolean
  // Set when the server answered a list of version 0 in pages, so that it has no watch cache to spare.
  #pages = false
  #verb: 'list' | 'watch' = 'list'
  #health: ReflectorHealth

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#log = options.log.withName('reflector').withValues({ resource: formatGroupResource(options.resource) })
    this.#backoff = new Backoff(backoffOptions, options.random)
    this.#watchListWorks = options.useWatchList ?? true
    this.#health = { state: 'starting', since: options.clock.now(), failures: 0 }
  }

  get health(): ReflectorHealth {
    return this.#health
  }

  /** The version up to which the target has seen everything; empty before the first list. */
  get lastSyncResourceVersion(): string {
    return this.#version
  }

  /** Reflects until the signal aborts, then resolves. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let failure: unknown
      try {
        await this.#listAndWatch(signal)
      } catch (error) {
        failure = error
        if (!signal.aborted) this.#failed(error)
      }
      await this.#pause(signal, failure)
    }
    this.#setHealth({ state: 'stopped', failures: 0 })
  }

  async #listAndWatch(signal: AbortSignal): Promise<void> {
    const stream = this.#watchListWorks ? await this.#watchList(signal) : undefined
    if (stream === undefined) await this.#list(signal)
    if (signal.aborted) {
      stream?.close()
      return
    }
    await this.#watch(signal, stream)
  }

  // Streaming the initial state.

  /** The stream after its initial state, with the target replaced; undefined when the state has to be listed. */
  async #watchList(signal: AbortSignal): Promise<WatchReader<T> | undefined> {
    this.#verb = 'watch'
    for (let cuts = 0; cuts < maxCuts && !signal.aborted; ) {
      const fromNewest = this.#versionUnavailable
      let failure: unknown
      try {
        const outcome = await this.#streamState(signal)
        if (outcome instanceof WatchReader) return outcome
        if (outcome === 'silence') {
          this.#watchListWorks = false
          this.#log.info('The server did not mark the end of the initial events in time: listing instead')
          return undefined
        }
        cuts++
      } catch (error) {
        if (signal.aborted) return undefined
        if ((isExpired(error) || isTooLarge(error)) && !fromNewest) {
          this.#versionUnavailable = true
          continue
        }
        if (isApiError(error) && !isTooManyRequests(error)) {
          if (isBadRequest(error) || isInvalid(error) || isMethodNotSupported(error)) this.#watchListWorks = false
          this.#log.debug('Cannot stream the initial state: listing instead', { reason: error.message })
          return undefined
        }
        failure = error
        this.#failed(error)
        if (!isApiError(error)) cuts++
      }
      await this.#pause(signal, failure)
    }
    return undefined
  }

  async #streamState(signal: AbortSignal): Promise<WatchReader<T> | 'end' | 'silence'> {
    const { clock } = this.#options
    const silence = toMillis(this.#options.watchListSilence ?? '10s')
    const deadline = clock.monotonic() + toMillis(this.#options.watchListDeadline ?? '2m')
    const resourceVersion = this.#versionUnavailable ? '' : this.#version
    const reader = await this.#open(signal, resourceVersion, silence, true)
    if (reader === undefined) return 'silence'
    const state = new InitialState<T>()
    try {
      for (;;) {
        const batch = await reader.next(Math.min(silence, deadline - clock.monotonic()))
        if (batch === 'end' || batch === 'silence') {
          reader.close()
          return batch
        }
        const end = batch.findIndex((event) => event.type === 'BOOKMARK' && event.initialEventsEnd)
        for (const event of end < 0 ? batch : batch.slice(0, end)) {
          if (event.type === 'BOOKMARK' || !this.#isExpected(event.object)) continue
          if (event.type === 'DELETED') state.delete(keyOfItem(event.object))
          else state.set(this.#prepared(event.object))
        }
        const mark = batch[end]
        if (mark?.type !== 'BOOKMARK') continue
        this.#replace(state.items(), mark.resourceVersion)
        reader.giveBack(batch.slice(end + 1))
        return reader
      }
    } catch (error) {
      reader.close()
      throw error
    }
  }

  // Listing.

  async #list(signal: AbortSignal): Promise<void> {
    this.#verb = 'list'
    const { clock, source, resource, listDeadline: deadline = '2m', pageSize = 500 } = this.#options
    const what = `list ${formatGroupResource(resource)}`
    const ask = (resourceVersion: string) => {
      // A list of a certain version is served from memory only when it is asked for in one piece.
      const limit = resourceVersion === '' || resourceVersion === '0' || this.#pages ? pageSize : undefined
      return listAll(source, {
        clock,
        signal,
        resourceVersion,
        limit,
        deadline,
        what,
        receiver: () => this.#receiver(),
      })
    }
    const version = this.#versionUnavailable ? '' : this.#version === '' ? '0' : this.#version
    let result: Awaited<ReturnType<typeof ask>>
    try {
      result = await ask(version)
    } catch (error) {
      if (!isExpired(error) && !isTooLarge(error)) throw error
      this.#versionUnavailable = true
      result = await ask('')
    }
    if (signal.aborted) return
    if (version === '0' && result.paged) this.#pages = true
    this.#replace(result.items, result.resourceVersion)
  }

  /** Receives the objects of one list, page by page, so that no page is kept for the sake of its objects. */
  #receiver(): (item: Item<T>) => Item<T> {
    const pool = new BytePool()
    return (item) => {
      const prepared = this.#prepared(item)
      if (isEncoded(prepared)) pool.hold(prepared)
      return prepared
    }
  }

  #prepared(item: Item<T>): Item<T> {
    return this.#options.prepare?.(item) ?? item
  }

  #replace(items: readonly Item<T>[], resourceVersion: string): void {
    this.#options.target.replace(items, resourceVersion)
    this.#version = resourceVersion
    this.#versionUnavailable = false
  }

  // Watching.

  /** Follows changes, over as many watches as the last version lasts. Returns or throws when the state must be listed again. */
  async #watch(signal: AbortSignal, stream: WatchReader<T> | undefined): Promise<void> {
    this.#verb = 'watch'
    let reader = stream
    while (!signal.aborted) {
      let seen = 0
      let broken: { readonly error: unknown } | undefined
      const started = reader?.openedAt ?? this.#options.clock.monotonic()
      const timeout = this.#timeout()
      // Without a version, the server first sends what exists, in no order: those versions say nothing about progress.
      const ordered = stream !== undefined || (this.#version !== '' && this.#version !== '0')
      try {
        reader ??= await this.#open(signal, this.#version, timeout + stallGrace, false)
        if (reader !== undefined) this.#watching()
        for (;;) {
          const batch = (await reader?.next(timeout + stallGrace)) ?? 'silence'
          if (batch === 'end' || batch === 'silence') break
          seen += batch.length
          this.#apply(batch, ordered)
        }
      } catch (error) {
        if (signal.aborted) return
        if (isExpired(error)) {
          this.#log.debug('The watch has expired: listing again from the last version')
          return
        }
        if (error instanceof TargetError) throw error.cause
        if (isApiError(error) && !isTooManyRequests(error)) throw error
        broken = { error }
      } finally {
        reader?.close()
        reader = undefined
        stream = undefined
      }
      const short = this.#options.clock.monotonic() - started < shortWatch
      if (broken !== undefined) {
        // The server was busy or out of reach. The last version is still good, so there is nothing to list.
        if (isTooManyRequests(broken.error) || seen === 0) this.#failed(broken.error)
        if (short || isApiError(broken.error)) await this.#pause(signal, broken.error)
      } else if (short && seen === 0) {
        throw new Error('very short watch: the server closed it within a second, without any event')
      }
    }
  }

  /** Passes events on. Events of an ordered stream that are older than what was seen are repetitions. */
  #apply(batch: readonly WatchEvent<Item<T>>[], ordered: boolean): void {
    const { target } = this.#options
    const before = this.#version
    try {
      for (const event of batch) {
        const version = event.type === 'BOOKMARK' ? event.resourceVersion : versionOfItem(event.object)
        if (ordered && isOlder(version, this.#version)) continue
        if (event.type !== 'BOOKMARK' && !this.#isExpected(event.object)) continue
        if (event.type === 'ADDED') target.add(this.#prepared(event.object))
        else if (event.type === 'MODIFIED') target.update(this.#prepared(event.object))
        else if (event.type === 'DELETED') target.delete(this.#prepared(event.object))
        if (ordered || event.type !== 'ADDED') this.#version = version
      }
      if (this.#version !== before) target.bookmark(this.#version)
    } catch (error) {
      throw new TargetError(error)
    }
  }

  #isExpected(item: Item<T>): boolean {
    const { expected } = this.#options
    const { apiVersion, kind } = isEncoded(item) ? item.type : item
    const fits = expected === undefined || (apiVersion === expected.apiVersion && kind === expected.kind)
    const isNamed = isEncoded(item) ? item.key !== '' : typeof item.metadata.name === 'string'
    if (fits && isNamed) return true
    this.#log.error(undefined, 'Dropped an event of an unexpected object', { apiVersion, kind })
    return false
  }

  #open(
    signal: AbortSignal,
    resourceVersion: string,
    limit: number,
    sendInitialEvents: boolean,
  ): Promise<WatchReader<T> | undefined> {
    const { source, clock } = this.#options
    const timeoutSeconds = Math.floor(this.#timeout() / 1000)
    const initial = sendInitialEvents ? { sendInitialEvents } : {}
    return WatchReader.open(source, { clock, limit, signal, resourceVersion, timeoutSeconds, ...initial })
  }

  #timeout(): number {
    return toMillis(this.#options.watchTimeout ?? '5m') * (1 + this.#options.random.next())
  }

  // Waiting and telling.

  async #pause(signal: AbortSignal, cause?: unknown): Promise<void> {
    if (signal.aborted) return
    const { clock } = this.#options
    if (clock.monotonic() - this.#lastBackoff > backoffQuiet) this.#backoff.reset()
    const delay = Math.max(this.#backoff.step(), (suggestedDelaySeconds(cause) ?? 0) * 1000)
    // An abort ends the wait, and the callers look at the signal.
    await clock.sleep(delay, { signal }).catch(() => undefined)
    this.#lastBackoff = clock.monotonic()
  }

  #watching(): void {
    if (this.#health.state === 'watching') return
    if (this.#health.state === 'failing') this.#log.info('Recovered', { failures: this.#health.failures })
    this.#setHealth({ state: 'watching', failures: 0 })
  }

  #failed(error: unknown): void {
    const failure = describeFailure(error, this.#verb, this.#options.resource)
    const known = this.#health.state === 'failing' && this.#health.message === failure.message
    const failures = this.#health.failures + 1
    const fields = failure.cure === undefined ? {} : { cure: failure.cure }
    // The first one of its kind is for people; repetitions would only bury it.
    if (known) this.#log.debug(failure.message, { failures })
    // Only those who need the resource can say that its absence is an error; they do when they have waited for it in vain.
    else if (failure.missing) this.#log.warn(failure.message, fields)
    else this.#log.error(error, failure.message, fields)
    this.#setHealth({ state: 'failing', failures, ...failure })
  }

  #setHealth(health: Omit<ReflectorHealth, 'since'>): void {
    const since = this.#health.state === health.state ? this.#health.since : this.#options.clock.now()
    this.#health = Object.freeze({ ...health, since })
    this.#options.onHealth?.(this.#health)
  }
}

/** What the target threw: to be told from failures of the watch. */
class TargetError extends Error {
  constructor(cause: unknown) {
    super('The target refused an event', { cause })
  }
}

/** The objects of a stream's beginning, by key. */
class InitialState<T extends KubeObject> {
  readonly #items = new Map<string, Item<T>>()
  // Chunks of the stream are not kept for the sake of their objects.
  readonly #pool = new BytePool()

  set(item: Item<T>): void {
    this.delete(keyOfItem(item))
    this.#items.set(keyOfItem(item), item)
    if (isEncoded(item)) this.#pool.hold(item)
  }

  delete(key: string): void {
    const item = this.#items.get(key)
    if (item === undefined) return
    this.#items.delete(key)
    if (isEncoded(item)) this.#pool.discard(item)
  }

  items(): Item<T>[] {
    return [...this.#items.values()]
  }
}

function isOlder(version: string, than: string): boolean {
  if (!isComparableResourceVersion(version) || !isComparableResourceVersion(than)) return false
  return compareResourceVersions(version, than) < 0
}

function isTooLarge(error: unknown): boolean {
  return findCause(error, 'ResourceVersionTooLarge') !== undefined
}
