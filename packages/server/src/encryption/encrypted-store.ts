import type {
  Change,
  Entry,
  ListRequest,
  Page,
  Store,
  WatchBatch,
  WatchRequest,
  WriteResult,
} from '@kubewright/storage'
import { type EncryptionConfig, groupResourceOf } from '../config/encryption-config.ts'
import { markStale } from '../resource/stale-values.ts'
import { type ValueTransformer, valueTransformer } from './value-transformer.ts'

/** The group and plural of a resource. */
export interface StoredResource {
  readonly group: string
  readonly resource: string
}

const root = '/registry/'

/**
 * A store that encrypts the values of some resources. Keys, revisions and the order of changes are those of the store below.
 *
 * A value that no provider can decrypt is passed on as it is: it is no valid object, so that the server reports it as unreadable and never
 * serves it. Local stores return the same bytes for a value every time, and so does this store.
 */
export class EncryptedStore implements Store {
  readonly shared: boolean
  readonly persistent: boolean
  readonly #store: Store
  readonly #entries: readonly {
    readonly matches: (resource: StoredResource) => boolean
    readonly transformer: ValueTransformer
  }[]
  /** The built-in resources by the prefix of their keys. */
  readonly #builtins: ReadonlyMap<string, StoredResource>
  readonly #byPrefix = new Map<string, ValueTransformer | undefined>()
  readonly #opened = new WeakMap<Uint8Array, Uint8Array>()

  /** `builtins` maps the prefixes of keys to resources; all other keys are of custom resources: `/registry/GROUP/PLURAL/`. */
  constructor(store: Store, config: EncryptionConfig, builtins: ReadonlyMap<string, StoredResource>) {
    this.#store = store
    this.shared = store.shared ?? false
    this.persistent = store.persistent ?? false
    this.#builtins = builtins
    this.#entries = config.map(({ resources, providers }) => {
      const patterns = resources.map(groupResourceOf)
      return {
        matches: ({ group, resource }) =>
          patterns.some(
            (pattern) =>
              (pattern.group === '*' || pattern.group === group) &&
              (pattern.resource === '*' || pattern.resource === resource),
          ),
        transformer: valueTransformer(providers),
      }
    })
  }

  revision(): Promise<number> {
    return this.#store.revision()
  }

  async get(key: string, options?: { readonly revision?: number | undefined }): ReturnType<Store['get']> {
    const { entry, revision } = await this.#store.get(key, options)
    return { entry: this.#open(entry), revision }
  }

  async list(request: ListRequest): Promise<Page> {
    const page = await this.#store.list(request)
    return { ...page, entries: page.entries.map((entry) => this.#open(entry)!) }
  }

  async put(key: string, value: Uint8Array, expected: number): Promise<WriteResult> {
    const transformer = this.#transformerOf(key)
    if (!transformer) return this.#store.put(key, value, expected)
    const sealed = transformer.seal(value, key)
    const result = await this.#store.put(key, sealed, expected)
    if (result.ok && result.entry) this.#opened.set(result.entry.value, value)
    return this.#openResult(result)
  }

  async delete(key: string, expected: number): Promise<WriteResult> {
    return this.#openResult(await this.#store.delete(key, expected))
  }

  async *watch(request: WatchRequest): AsyncIterable<WatchBatch> {
    for await (const batch of this.#store.watch(request)) {
      yield { revision: batch.revision, changes: batch.changes.map((change) => this.#openChange(change)) }
    }
  }

  compact(revision: number): Promise<void> {
    return this.#store.compact(revision)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve(this.#store[Symbol.asyncDispose]())
  }

  #openResult(result: WriteResult): WriteResult {
    return result.ok
      ? { ...result, entry: this.#open(result.entry), previous: this.#open(result.previous) }
      : { ...result, current: this.#open(result.current) }
  }

  #openChange(change: Change): Change {
    if (!this.#transformerOf(change.key)) return change
    return { ...change, entry: this.#open(change.entry), previous: this.#open(change.previous) }
  }

  #open(entry: Entry | undefined): Entry | undefined {
    if (!entry) return undefined
    const transformer = this.#transformerOf(entry.key)
    if (!transformer) return entry
    let value = this.#opened.get(entry.value)
    if (!value) {
      const opened = transformer.open(entry.value, entry.key)
      value = opened?.value ?? entry.value
      if (opened?.isStale) markStale(value)
      this.#opened.set(entry.value, value)
    }
    return value === entry.value ? entry : { ...entry, value }
  }

  #transformerOf(key: string): ValueTransformer | undefined {
    if (!key.startsWith(root)) return undefined
    const first = key.indexOf('/', root.length) + 1
    const second = key.indexOf('/', first) + 1
    const one = key.slice(0, first)
    // Most built-in resources have keys with one part before the namespace and name, services and custom resources have two.
    const prefix = this.#builtins.has(one) ? one : key.slice(0, second)
    if (this.#byPrefix.has(prefix)) return this.#byPrefix.get(prefix)
    const resource = this.#builtins.get(prefix) ?? {
      group: key.slice(root.length, first - 1),
      resource: key.slice(first, second - 1),
    }
    const found = this.#entries.find(({ matches }) => matches(resource))?.transformer
    this.#byPrefix.set(prefix, found)
    return found
  }
}
