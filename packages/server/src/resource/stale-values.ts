const stale = new WeakSet<Uint8Array>()

/** Declares that the stored form of a value is outdated, for example encrypted with an old key: an update without changes writes it again. */
export function markStale(value: Uint8Array): void {
  stale.add(value)
}

/** Whether {@link markStale} was called for the value. */
export function isStale(value: Uint8Array): boolean {
  return stale.has(value)
}
