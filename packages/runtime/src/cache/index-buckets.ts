/** Derives the values under which an object is found. Must be pure: it is called again to take the object out. */
export type IndexFunction<T> = (object: T) => readonly string[]

const nothing: ReadonlySet<string> = new Set<string>()

/** One inverted index: the keys of the objects for each value. Holds no empty buckets. */
export class IndexBuckets<T> {
  readonly #valuesOf: IndexFunction<T>
  readonly #buckets = new Map<string, Set<string>>()

  constructor(valuesOf: IndexFunction<T>) {
    this.#valuesOf = valuesOf
  }

  add(key: string, object: T): void {
    for (const value of this.#valuesOf(object)) {
      const bucket = this.#buckets.get(value)
      if (bucket === undefined) this.#buckets.set(value, new Set([key]))
      else bucket.add(key)
    }
  }

  remove(key: string, object: T): void {
    for (const value of this.#valuesOf(object)) {
      const bucket = this.#buckets.get(value)
      if (bucket?.delete(key) && bucket.size === 0) this.#buckets.delete(value)
    }
  }

  clear(): void {
    this.#buckets.clear()
  }

  /** The keys of the objects that have this value; not to be kept. */
  keys(value: string): ReadonlySet<string> {
    return this.#buckets.get(value) ?? nothing
  }

  /** All values that some object has, in order. */
  values(): string[] {
    return [...this.#buckets.keys()].sort()
  }
}
