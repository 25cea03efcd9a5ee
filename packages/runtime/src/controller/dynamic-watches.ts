import {
  type AnyKind,
  formatGroupKind,
  formatKey,
  type Infer,
  type KubeObject,
  parseSelector,
  type Selector,
  toNameAndNamespace,
} from '@kubewright/api'
import { formatDuration, KubewrightError, withDeadline } from '@kubewright/base'
import { isMetadataOnly, type Key } from '@kubewright/client'
import type { Change } from '../cache/informer/change.ts'
import type { HandlerRegistration } from '../cache/informer/shared-informer.ts'
import type { CacheLease, CacheScope } from '../cluster/object-cache.ts'
import type { Cause } from '../queue/cause.ts'
import type { ControllerParts } from './controller-parts.ts'
import type { KeySink } from './sources/source.ts'

/** The objects of a watch by labels. */
export interface WatchSelection {
  /** In the syntax of `labelSelector=`. @default all objects */
  readonly selector?: string | undefined
  /** @default the namespaces of the operator */
  readonly namespace?: string | undefined
}

/** Watches an object, or the objects of a selection, for the key that is being reconciled. */
export interface WatchObjects {
  /**
   * Watches one object and resolves to its current state; undefined when it does not exist. A key without a namespace
   * means the namespace of the reconciled object.
   */
  <K extends AnyKind>(kind: K, key: Key): Promise<Infer<K> | undefined>
  /** Watches the objects of a selection and resolves to their current state, ordered by key. */
  <K extends AnyKind>(kind: K, selection: WatchSelection): Promise<readonly Infer<K>[]>
}

// How long a reconcile waits for the first list of a watch that it starts.
const syncTimeout = '30s'

/** One set of objects that some keys watch. */
interface Target {
  readonly kindText: string
  /** The key of a single object; undefined for a selection. */
  readonly key: string | undefined
  readonly selector: Selector
  readonly namespace: string
  readonly subscribers: Set<string>
  readonly feed: Feed
}

/** The objects of one scope of the cache, and the targets among them. */
interface Feed {
  readonly name: string
  readonly lease: CacheLease
  readonly registration: HandlerRegistration
  readonly byKey: Map<string, Target>
  readonly bySelection: Map<string, Target>
}

/** The watches that reconciles start, counted by key: each lives as long as the last reconcile of a key wants it. */
export class DynamicWatches {
  readonly #parts: ControllerParts
  readonly #sink: KeySink
  readonly #feeds = new Map<string, Feed>()
  readonly #targets = new Map<string, ReadonlySet<Target>>()

  constructor(parts: ControllerParts, sink: KeySink) {
    this.#parts = parts
    this.#sink = sink
  }

  /** The number of watches that are open, for tests and reports. */
  get size(): number {
    return this.#feeds.size
  }

  /** The watches of one reconcile. Costs nothing until it watches something. */
  session(subscriber: string, options: SessionOptions): WatchSession {
    return new WatchSession(this, subscriber, options)
  }

  /**
   * Ends a reconcile of a key: releases the watches that it did not start again. After a failure they are kept, because
   * the reconcile may have ended before it reached them.
   */
  finish(subscriber: string, wanted: ReadonlySet<Target>, failed: boolean): void {
    const before = this.#targets.get(subscriber)
    if (before === undefined && wanted.size === 0) return
    const kept = failed ? new Set([...(before ?? []), ...wanted]) : wanted
    if (kept.size === 0) this.#targets.delete(subscriber)
    else this.#targets.set(subscriber, kept)
    for (const target of before ?? []) if (!kept.has(target)) this.#leave(target, subscriber)
  }

  /** Adds a key to the subscribers of a target. From here on its changes reconcile the key. */
  join(subscriber: string, kind: AnyKind, what: Wanted): Target {
    const { key, selector, namespace } = what
    const feed = this.#feed(kind, what)
    const [targets, name] =
      key === undefined ? [feed.bySelection, `${namespace}\n${selector.toString()}`] : [feed.byKey, key]
    let target = targets.get(name)
    if (target === undefined) {
      const kindText = `${kind.apiVersion} ${kind.kind}`
      target = { kindText, key, selector, namespace, subscribers: new Set(), feed }
      targets.set(name, target)
    }
    target.subscribers.add(subscriber)
    return target
  }

  /** Resolves when the objects of a target are in the cache. */
  async synced({ feed: { lease }, kindText }: Target, signal: AbortSignal): Promise<void> {
    if (lease.hasSynced) return
    const what = `the first list of ${kindText}`
    try {
      await withDeadline(this.#parts.clock, syncTimeout, what, (late) => lease.synced({ signal: late }), { signal })
    } catch (error) {
      signal.throwIfAborted()
      const { message = `it did not arrive within ${formatDuration(syncTimeout)}`, fix } = lease.health
      const reason = [message, fix].filter((text) => text !== undefined).join('. ')
      throw new KubewrightError('KW_CACHE_NOT_SYNCED', `Cannot watch ${kindText}: ${reason}`, { cause: error })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const feeds = [...this.#feeds.values()]
    this.#feeds.clear()
    this.#targets.clear()
    for (const { registration } of feeds) registration.remove()
    await Promise.all(feeds.map(({ lease }) => lease.release()))
  }

  #feed(kind: AnyKind, { key, selector, namespace }: Wanted): Feed {
    const { cache, namespaces } = this.#parts.cluster
    // All objects, if the cache has them anyway; else only those that are wanted.
    const isWithin = namespace === '' || namespaces.length === 0 || namespaces.includes(namespace)
    const isCovered = isWithin && cache.peek(kind) !== undefined
    const scope: CacheScope = isCovered
      ? {}
      : {
          ...(namespace === '' || kind.scope === 'Cluster' ? {} : { namespaces: [namespace] }),
          ...(selector.isEverything ? {} : { labelSelector: selector.toString() }),
          ...(key === undefined ? {} : { fieldSelector: `metadata.name=${key.slice(key.indexOf('/') + 1)}` }),
        }
    const form = isMetadataOnly(kind) ? 'metadata' : kind.version
    const name = JSON.stringify([formatGroupKind(kind), form, scope])
    let feed = this.#feeds.get(name)
    if (feed === undefined) {
      const lease = cache.use(kind, scope) as CacheLease
      const byKey = new Map<string, Target>()
      const bySelection = new Map<string, Target>()
      const registration = lease.addHandler(
        { onChange: (change) => this.#changed(change, byKey, bySelection) },
        { name: `${this.#sink.controller}/${kind.kind} (dynamic)` },
      )
      // Prevents an unhandled rejection when the watch is released before its first list.
      registration.synced.catch(() => undefined)
      feed = { name, lease, registration, byKey, bySelection }
      this.#feeds.set(name, feed)
    }
    return feed
  }

  #changed(
    change: Change<KubeObject>,
    byKey: ReadonlyMap<string, Target>,
    bySelection: ReadonlyMap<string, Target>,
  ): void {
    // A reconcile reads the initial objects itself, after the first list.
    if (change.sync || (change.type === 'add' && change.initial)) return
    const { type: event, key } = change
    const one = byKey.get(key)
    if (one !== undefined) this.#notify(one, { event, kind: one.kindText, object: key })
    if (bySelection.size === 0) return
    const sides = [change.before, change.after ?? change.deleted?.object].filter((side) => side !== undefined)
    for (const target of bySelection.values()) {
      if (sides.some((side) => selects(target, side)))
        this.#notify(target, { event, kind: target.kindText, object: key })
    }
  }

  #notify({ subscribers }: Target, cause: Cause): void {
    for (const subscriber of subscribers) this.#sink.add(subscriber, { cause })
  }

  #leave(target: Target, subscriber: string): void {
    const { feed, key, subscribers } = target
    subscribers.delete(subscriber)
    if (subscribers.size > 0) return
    const targets = key === undefined ? feed.bySelection : feed.byKey
    for (const [name, known] of targets) if (known === target) targets.delete(name)
    if (feed.byKey.size + feed.bySelection.size > 0) return
    this.#feeds.delete(feed.name)
    feed.registration.remove()
    feed.lease.release().catch((error: unknown) => {
      this.#parts.log.error(error, 'Releasing a watch failed', { kind: target.kindText })
    })
  }
}

/** The objects to watch: one key, or a selection. */
interface Wanted {
  readonly key: string | undefined
  readonly selector: Selector
  readonly namespace: string
}

interface SessionOptions {
  readonly client: ControllerParts['cluster']['client']
  /** The namespace of keys without one. */
  readonly namespace: string
  readonly signal: () => AbortSignal
  readonly waitsFor: (what: string | undefined) => void
}

/** The watches that one reconcile starts. */
class WatchSession {
  readonly #watches: DynamicWatches
  readonly #subscriber: string
  readonly #options: SessionOptions
  readonly #wanted = new Set<Target>()

  constructor(watches: DynamicWatches, subscriber: string, options: SessionOptions) {
    this.#watches = watches
    this.#subscriber = subscriber
    this.#options = options
  }

  readonly watch = (async (kind: AnyKind, what: Key | WatchSelection): Promise<unknown> => {
    const { client, signal, waitsFor } = this.#options
    const wanted = this.#wantedOf(kind, what)
    const target = this.#watches.join(this.#subscriber, kind, wanted)
    this.#wanted.add(target)
    waitsFor(`the first list of ${target.kindText}`)
    await this.#watches.synced(target, signal())
    waitsFor(undefined)
    // Read after the watch has started, so that no change between both is lost.
    if (wanted.key !== undefined) return client.find(kind, wanted.key)
    const namespace = wanted.namespace === '' ? undefined : wanted.namespace
    return client.list(kind, { selector: wanted.selector, namespace })
  }) as WatchObjects

  end(failed: boolean): void {
    this.#watches.finish(this.#subscriber, this.#wanted, failed)
  }

  #wantedOf(kind: AnyKind, what: Key | WatchSelection): Wanted {
    if (typeof what === 'string' || 'name' in what) {
      const { name, namespace = this.#options.namespace } = toNameAndNamespace(what)
      const inNamespace = kind.scope === 'Cluster' ? '' : namespace
      if (inNamespace === '' && kind.scope === 'Namespaced') {
        throw new TypeError(`Cannot watch ${kind.kind} ${name} without a namespace: pass 'namespace/name'`)
      }
      return { key: formatKey(name, inNamespace), selector: parseSelector(''), namespace: inNamespace }
    }
    return { key: undefined, selector: parseSelector(what.selector ?? ''), namespace: what.namespace ?? '' }
  }
}

function selects({ selector, namespace }: Target, { metadata }: KubeObject): boolean {
  return (namespace === '' || metadata.namespace === namespace) && selector.matches(metadata.labels)
}

export type { WatchSession }
