/** Smaller bodies do not count: the limits of requests in progress bound them. */
const countedBytes = 64 * 1024

/** A response whose body is in memory until its client has taken it. */
export interface HeldBody {
  /** Drops the response. */
  reset(): void
}

/**
 * Limits the memory of all response bodies that wait for their clients. A slow client is within its own time limit, but many of them
 * together can fill the memory. When the limit is exceeded, the response that has waited longest is reset: clients that read finish in
 * time.
 */
export class HeldBodies {
  readonly #limit: number
  /** The sizes of bodies, in the order in which they began to wait. */
  readonly #sizes = new Map<HeldBody, number>()
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** The bytes that wait. */
  get bytes(): number {
    return this.#bytes
  }

  /** Counts a body until {@link HeldBodies.release}. Resets older responses if there is no room for it. The new one always stays. */
  hold(body: HeldBody, size: number): void {
    if (size < countedBytes) return
    this.#sizes.set(body, size)
    this.#bytes += size
    for (const oldest of this.#sizes.keys()) {
      if (this.#bytes <= this.#limit || oldest === body) return
      this.release(oldest)
      oldest.reset()
    }
  }

  /** Deducts a body that was sent or dropped. */
  release(body: HeldBody): void {
    this.#bytes -= this.#sizes.get(body) ?? 0
    this.#sizes.delete(body)
  }
}
