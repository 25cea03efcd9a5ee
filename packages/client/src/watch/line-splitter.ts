const newline = 10

/** Told of one line: bytes from `start` to `end` of a home that may hold more lines. */
export type LineVisitor = (bytes: Buffer, start: number, end: number) => void

/** Finds the lines of a stream of bytes without decoding them. A line ends with a newline. */
export class LineSplitter {
  // A line that spans many chunks is joined once, at its end: appending to it each time would be quadratic.
  #begun: Buffer[] = []

  /** Visits the lines that the chunk completes, in order. What the visitor throws ends the splitting. */
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
    // A copy: the chunk may be large, and the next one may take its time.
    if (start < bytes.length) this.#begun.push(Buffer.from(bytes.subarray(start)))
  }

  /** Visits what follows the last newline, unless that is nothing. */
  finish(visit: LineVisitor): void {
    if (this.#begun.length === 0) return
    const line = Buffer.concat(this.#begun)
    this.#begun = []
    visit(line, 0, line.length)
  }
}
