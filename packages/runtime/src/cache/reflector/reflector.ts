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
import { Backoff, CaughtError, type Clock, type Duration, type Logger, type Random, toMillis } from '@kubewright/base'
import { BytePool } from '../store/byte-pool.ts'
import { type Item, isEncoded, keyOfItem, versionOfItem } from '../store/item.ts'
import type { DeltaTarget } from './delta-fifo.ts'
import { isExpired, listAll } from './list-all.ts'
import type { ListWatch, WatchEvent } from './list-watch.ts'
import { describeFailure, type ReflectedResource, type ReflectorHealth } from './reflector-health.ts'
import { WatchReader } from './watch-reader.ts'

/** Options of a {@link Reflector}. */
export interface ReflectorOptions<T extends KubeObject> {
  readonly source: ListWatch<T>
  readonly target: DeltaTarget<T>
  readonly resource: ReflectedResource
  /** The type of the objects; others are dropped and logged. @default any object with a name */
  readonly expected?: { readonly apiVersion: string; readonly kind: string } | undefined
  /** Called once for each object that arrives, before it is stored. The target receives the result. */
  readonly prepare?: ((item: Item<T>) => Item<T>) | undefined
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Whether to stream the initial state instead of listing it. @default true */
  readonly useWatchList?: boolean | undefined
  /** How long that stream may send nothing before its end mark; then the state is listed. @default 10 s */
  readonly watchListSilence?: Duration | undefined
  /** The time limit for that stream as a whole. @default 2 min */
  readonly watchListDeadline?: Duration | undefined
  /** The time limit for one page of a list. @default 2 min */
  readonly listDeadline?: Duration | undefined
  /** The server ends each watch after a random time between this and twice this. @default 5 min */
  readonly watchTimeout?: Duration | undefined
  /** @default 500 */
  readonly pageSize?: number | undefined
  /** Called for every change of the health. */
  readonly onHealth?: ((health: ReflectorHealth) => void) | undefined
}

// As in client-go's tools/cache/reflector.go.
const backoffOptions = { duration: 800, factor: 2, jitter: 1, steps: 38, cap: '30s' } as const
const backoffQuiet = 120_000
// How long after its requested end a silent watch counts as stalled.
const stallGrace = 30_000
const shortWatch = 1000
const maxCuts = 3

/**
 * Keeps a target in sync with a resource of an API server: lists it, watches it, and resumes from the last version
 * whenever the watch ends. It retries forever, and every wait has a time limit. Failures are reported in `health` and
 * in the log.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>
  readonly #log: Logger
  readonly #backoff: Backoff
  #lastBackoff = Number.NEGATIVE_INFINITY
  // The target has received all changes up to this version; empty before the first list.
  #version = ''
  // Set when the server does not have #version, or does not have it yet: the next request asks for the newest state.
  #versionUnavailable = false
  #watchListWorks: boolean
  // Set when the server split a list of version 0 into pages, which means that it has no watch cache.
  #pages = false
  #verb: 'list' | 'watch' = 'list'
  #health: ReflectorHealth
  #mayBeOld = false

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#log = options.log.withName('reflector').withValues({ resource: formatGroupResource(options.resource) })
    this.#backoff = new Backoff(backoffOptions, options.random)
    this.#watchListWorks = options.useWatchList ?? true
    this.#health = { state: 'starting', since: options.clock.now(), failures: 0 }
  }

  get health(): ReflectorHealth {
    return this.#mayBeOld ? Object.freeze({ ...this.#health, mayBeOld: true }) : this.#health
  }

  /** The version up to which the target has received all changes; empty before the first list. */
  get lastSyncResourceVersion(): string {
    return this.#version
  }

  /** Runs until the signal aborts, then resolves. Never rejects. */
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
    const absence = this.#options.source.absence?.(signal)
    if (absence !== undefined) {
      this.#replace([], absence.resourceVersion)
      this.#watching()
      await absence.ended
      // The watch delivers all changes since that version, so that waiting for the first object changes nothing else.
      return signal.aborted ? undefined : this.#watch(signal, undefined)
    }
    const stream = this.#watchListWorks ? await this.#watchList(signal) : undefined
    if (stream === undefined) await this.#list(signal)
    if (signal.aborted) {
      stream?.close()
      return
    }
    await this.#watch(signal, stream)
  }

  // Streaming the initial state.

  /**
   * Streams the initial state into the target and returns the stream for the changes that follow; undefined when the
   * state must be listed.
   */
  async #watchList(signal: AbortSignal): Promise<WatchReader<T> | undefined> {
    this.#verb = 'watch'
    for (let cuts = 0; cuts < maxCuts && !signal.aborted; ) {
      const fromNewest = this.#versionUnavailable
      let failure: unknown
      try {
        const outcome = await this.#streamState(signal)
        this.#mayBeOld = false
        if (outcome instanceof WatchReader) return outcome
        if (outcome === 'silence') {
          this.#watchListWorks = false
          this.#log.info('Initial events did not end in time; listing instead')
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
          this.#log.debug('Initial state cannot be streamed; listing instead', { reason: error.message })
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

  async #list(signal: AbortSignal): Promise<void> {
    this.#verb = 'list'
    const { clock, source, resource, listDeadline: deadline = '2m', pageSize = 500 } = this.#options
    const what = `list ${formatGroupResource(resource)}`
    const ask = (resourceVersion: string) => {
      // The server answers a list of a certain version from its cache only without a limit.
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
    this.#mayBeOld = version === '0'
    try {
      result = await ask(version)
    } catch (error) {
      if (!isExpired(error) && !isTooLarge(error)) throw error
      this.#versionUnavailable = true
      this.#mayBeOld = false
      result = await ask('')
    }
    if (signal.aborted) return
    if (version === '0' && result.paged) this.#pages = true
    this.#replace(result.items, result.resourceVersion)
  }

  /**
   * Receives the objects of one list, page by page. Copies the bytes of each object, so that no page stays in memory.
   */
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

  /**
   * Receives changes, over as many watches as the last version allows. Returns or throws when the state must be listed
   * again.
   */
  async #watch(signal: AbortSignal, stream: WatchReader<T> | undefined): Promise<void> {
    this.#verb = 'watch'
    let reader = stream
    while (!signal.aborted) {
      let seen = 0
      let broken: { readonly error: unknown } | undefined
      const started = reader?.openedAt ?? this.#options.clock.monotonic()
      const timeout = this.#timeout()
      // A watch without a version starts with the existing objects in no order: their versions do not indicate
      // progress.
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
          this.#log.debug('Watch expired; listing again from the last version')
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
        // The server was overloaded or unreachable. The last version is still valid, so no list is needed.
        if (isTooManyRequests(broken.error) || seen === 0) this.#failed(broken.error)
        if (short || isApiError(broken.error)) await this.#pause(signal, broken.error)
      } else if (short && seen === 0) {
        throw new CaughtError('very short watch: the server closed it within a second, without any event')
      }
    }
  }

  /** Passes events to the target. In an ordered stream, events older than the last version are repetitions. */
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
    this.#log.error(undefined, 'Dropped a watch event with an unexpected kind or without a name', { apiVersion, kind })
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

  async #pause(signal: AbortSignal, cause?: unknown): Promise<void> {
    if (signal.aborted) return
    const { clock } = this.#options
    if (clock.monotonic() - this.#lastBackoff > backoffQuiet) this.#backoff.reset()
    const delay = Math.max(this.#backoff.step(), (suggestedDelaySeconds(cause) ?? 0) * 1000)
    // An abort ends the sleep; callers check the signal.
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
    const fields = failure.fix === undefined ? {} : { fix: failure.fix }
    // Only the first of several equal failures is logged at error level.
    if (known) this.#log.debug(failure.message, { failures })
    // Whether a missing resource is an error is up to its users: those that require it fail with a time limit.
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

/** Wraps an error of the target, to tell it from failures of the watch. */
class TargetError extends CaughtError {
  constructor(cause: unknown) {
    super('The target failed to process an event', { cause })
  }
}

/** The objects of the initial events, by key. */
class InitialState<T extends KubeObject> {
  readonly #items = new Map<string, Item<T>>()
  // Copies the bytes of each object, so that no chunk of the stream stays in memory.
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
