/** Derives the values under which an object is found. Called once for each version of an object. */
export type IndexFunction<T> = (object: T) => readonly string[]

interface Bucket {
  readonly value: string
  readonly keys: Set<string>
}

const nothing: ReadonlySet<string> = new Set<string>()

/** One inverted index: the keys of the objects for each value. Holds no empty buckets. */
export class IndexBuckets {
  readonly #buckets = new Map<string, Bucket>()
  // Where each key is, so that the object is not needed to take it out. Most objects have one value, or none.
  readonly #places = new Map<string, Bucket | readonly Bucket[]>()

  /** Puts a key under its values, and nowhere else. */
  set(key: string, values: readonly string[]): void {
    this.delete(key)
    const [only] = values
    if (only === undefined) return
    if (values.length === 1) this.#places.set(key, this.#put(key, only))
    else
      this.#places.set(
        key,
        [...new Set(values)].map((value) => this.#put(key, value)),
      )
  }

  /** Takes a key out. */
  delete(key: string): void {
    const places = this.#places.get(key)
    if (places === undefined) return
    this.#places.delete(key)
    for (const bucket of 'value' in places ? [places] : places) {
      bucket.keys.delete(key)
      if (bucket.keys.size === 0) this.#buckets.delete(bucket.value)
    }
  }

  clear(): void {
    this.#buckets.clear()
    this.#places.clear()
  }

  /** The keys of the objects that have this value; not to be kept. */
  keys(value: string): ReadonlySet<string> {
    return this.#buckets.get(value)?.keys ?? nothing
  }

  /** All values that some object has, in order. */
  values(): string[] {
    return [...this.#buckets.keys()].sort()
  }

  #put(key: string, value: string): Bucket {
    let bucket = this.#buckets.get(value)
    if (bucket === undefined) {
      bucket = { value, keys: new Set() }
      this.#buckets.set(value, bucket)
    }
    bucket.keys.add(key)
    return bucket
  }
}
