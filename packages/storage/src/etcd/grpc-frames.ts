/** The size of the frame header before each message: one byte for the compression flag, four for the length. */
export const frameHead = 5

/** Fills in the header of a frame whose message was encoded after `frameHead` reserved bytes. */
export function sealFrame(frame: Buffer): Buffer {
  frame[0] = 0
  frame.writeUInt32BE(frame.length - frameHead, 1)
  return frame
}

/** Reassembles the messages of a stream from chunks of any size. */
export class FrameSplitter {
  readonly #visit: (message: Buffer) => void
  #chunks: Buffer[] = []
  #size = 0
  /** The number of bytes needed before the next message can be processed. */
  #wanted = frameHead

  constructor(visit: (message: Buffer) => void) {
    this.#visit = visit
  }

  /**
   * Adds a chunk and calls `visit` for every message that it completes. Throws for a compressed message; compression is
   * not negotiated.
   */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#wanted) return
    const data = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#size)
    let at = 0
    for (;;) {
      this.#wanted = frameHead
      if (data.length - at < frameHead) break
      if (data[at] !== 0) throw new RangeError('Cannot read gRPC message: it is compressed')
      const length = data.readUInt32BE(at + 1)
      this.#wanted = frameHead + length
      if (data.length - at < this.#wanted) break
      this.#visit(data.subarray(at + frameHead, at + this.#wanted))
      at += this.#wanted
    }
    this.#size = data.length - at
    this.#chunks = this.#size === 0 ? [] : [data.subarray(at)]
  }
}
