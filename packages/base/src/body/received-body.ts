/** Smaller pieces are copied, so that none of them keeps the larger buffer of its socket in memory. */
const copiedBytes = 4096
/** The first buffer. It never follows the length that a client announces. */
const firstBytes = 8192

const nothing = new Uint8Array(0)

/**
 * A body that arrives in pieces. Holds at most about twice the bytes of the body, however small the pieces are: an object for
 * each piece would take a hundred times the memory of a one-byte piece.
 */
export class ReceivedBody {
  #bytes: Uint8Array = nothing
  #length = 0
  /** Whether `#bytes` is the first piece itself, which has no room for more. */
  #isBorrowed = false

  /** The bytes so far. */
  get length(): number {
    return this.#length
  }

  /** Adds a piece. The caller must not change it afterwards. */
  append(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (this.#length === 0 && piece.length >= copiedBytes) {
      this.#bytes = piece
      this.#isBorrowed = true
    } else {
      if (this.#isBorrowed || length > this.#bytes.length) this.#grow(length)
      this.#bytes.set(piece, this.#length)
    }
    this.#length = length
  }

  #grow(length: number): void {
    const grown = new Uint8Array(Math.max(length, 2 * this.#length, firstBytes))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
    this.#isBorrowed = false
  }

  /** Returns all bytes and forgets them. */
  take(): Uint8Array {
    const bytes = this.#bytes.length === this.#length ? this.#bytes : this.#bytes.subarray(0, this.#length)
    this.clear()
    return bytes
  }

  /** Drops all bytes. */
  clear(): void {
    this.#bytes = nothing
    this.#length = 0
    this.#isBorrowed = false
  }
}
