/** The size up to which documents are kept. Those of a cluster without custom resources have 100 KiB together. */
const maxBytes = 1024 * 1024

interface Known<T> {
  readonly bytes: Buffer
  readonly value: T
}

/**
 * Keeps what was read from the latest documents. Clients read the same documents again and again, for example the tests of one process,
 * and parsing them is most of the cost.
 */
export class KnownDocuments<T> {
  /** The latest first. */
  #known: readonly Known<T>[] = []

  /** The value of a document, created by `read` unless a document with the same bytes is known. The value must not be changed. */
  value(bytes: Buffer, read: () => T): T {
    const found = this.#known.find((one) => one.bytes.equals(bytes))
    const latest = found ?? { bytes, value: read() }
    if (this.#known[0] !== latest) this.#keep(latest)
    return latest.value
  }

  #keep(latest: Known<T>): void {
    let room = maxBytes
    const all = [latest, ...this.#known.filter((one) => one !== latest)]
    this.#known = all.filter(({ bytes }) => (room -= bytes.length) >= 0)
  }
}
