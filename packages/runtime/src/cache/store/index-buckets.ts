/** Derives the index values of an object. Called once for each version of an object. */
export type IndexFunction<T> = (object: T) => readonly string[]

interface Bucket {
  readonly value: string
  readonly keys: Set<string>
}

const nothing: ReadonlySet<string> = new Set<string>()

/** An inverted index: the keys of the objects for each value. Contains no empty buckets. */
export class IndexBuckets {
  readonly #buckets = new Map<string, Bucket>()
  // The buckets of each key, so that a key can be removed without its object. Most objects have one value or none.
  readonly #places = new Map<string, Bucket | readonly Bucket[]>()

  /** Sets the values of a key. */
  set(key: string, values: readonly string[]): void {
    const [only] = values
    // Most changes of an object leave its values as they are.
    const places = this.#places.get(key)
    if (places !== undefined && 'value' in places && values.length === 1 && places.value === only) return
    this.delete(key)
    if (only === undefined) return
    if (values.length === 1) this.#places.set(key, this.#put(key, only))
    else
      this.#places.set(
        key,
        [...new Set(values)].map((value) => this.#put(key, value)),
      )
  }

  /** Removes a key. */
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

  /** The keys of the objects with this value. Live: do not keep it across writes. */
  keys(value: string): ReadonlySet<string> {
    return this.#buckets.get(value)?.keys ?? nothing
  }

  /** All values in the index, sorted. */
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
