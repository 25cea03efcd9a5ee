/** Bytes before each message: one says whether it is compressed, four are its length. */
export const frameHead = 5

/** Fills in the head of a message that was encoded behind room for it. */
export function sealFrame(frame: Buffer): Buffer {
  frame[0] = 0
  frame.writeUInt32BE(frame.length - frameHead, 1)
  return frame
}

/** Puts the messages of a stream together again, however the connection has cut it into chunks. */
export class FrameSplitter {
  readonly #visit: (message: Buffer) => void
  #chunks: Buffer[] = []
  #size = 0
  /** Bytes that must be there before anything can be done. */
  #wanted = frameHead

  constructor(visit: (message: Buffer) => void) {
    this.#visit = visit
  }

  /** Takes a chunk and visits every message that it completes. Throws if a message is compressed, which nobody asked for. */
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
