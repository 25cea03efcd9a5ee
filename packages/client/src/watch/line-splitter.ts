const newline = 10

/** Receives one line: the bytes from `start` to `end` of a buffer that may contain more lines. */
export type LineVisitor = (bytes: Buffer, start: number, end: number) => void

/** Finds the lines in a byte stream without decoding them. A line ends with a newline. */
export class LineSplitter {
  // A line that spans many chunks is joined once at its end, because appending repeatedly would be quadratic.
  #begun: Buffer[] = []

  /** Visits the lines that the chunk completes, in order. An error thrown by the visitor ends the splitting. */
  push(chunk: Uint8Array, visit: LineVisitor): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let end = bytes.indexOf(newline)
    if (end < 0) {
      if (bytes.length > 0) this.#begun.push(bytes)
      return
    }
    let start = 0
    if (this.#begun.length > 0) {
      this.#begun.push(bytes.subarray(0, end))
      const line = Buffer.concat(this.#begun)
      this.#begun = []
      start = end + 1
      visit(line, 0, line.length)
      end = bytes.indexOf(newline, start)
    }
    while (end >= 0) {
      visit(bytes, start, end)
      start = end + 1
      end = bytes.indexOf(newline, start)
    }
    // A copy, so that the remainder does not keep a large chunk in memory until the next one arrives.
    if (start < bytes.length) this.#begun.push(Buffer.from(bytes.subarray(start)))
  }

  /** Visits the remainder after the last newline, unless it is empty. */
  finish(visit: LineVisitor): void {
    if (this.#begun.length === 0) return
    const line = Buffer.concat(this.#begun)
    this.#begun = []
    visit(line, 0, line.length)
  }
}
