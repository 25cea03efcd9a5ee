const encoder = new TextEncoder()
// Texts whose encoded form cannot be larger are encoded here before they are copied.
const scratch = new Uint8Array(64 * 1024)
const maxBytesPerUnit = 3
const stepBytes = 256 * 2 ** 20
const checkedEvery = 1024

/**
 * Encodes texts that are kept as long as their object is stored. V8 marks the whole heap whenever 64 MiB of buffers were added since the last
 * time, however large the heap is, so that a store that only grows would take quadratic time. Shared buffers do not count. A large process
 * uses them for all but every n-th text, so that the heap is marked when about a quarter of the memory of the process is new.
 */
export class ValueEncoder {
  readonly #memoryBytes: () => number
  #period = 1
  #count = 0

  constructor(memoryBytes: () => number = process.memoryUsage.rss) {
    this.#memoryBytes = memoryBytes
  }

  /** The bytes of a text, in UTF-8. They may be in a shared buffer. */
  encode(text: string): Uint8Array {
    if (++this.#count % checkedEvery === 0) this.#period = Math.max(1, Math.floor(this.#memoryBytes() / stepBytes))
    const isCounted = this.#count % this.#period === 0
    if (isCounted || text.length * maxBytesPerUnit > scratch.length) return encoder.encode(text)
    const { written } = encoder.encodeInto(text, scratch)
    const bytes = new Uint8Array(new SharedArrayBuffer(written))
    bytes.set(scratch.subarray(0, written))
    return bytes
  }
}
