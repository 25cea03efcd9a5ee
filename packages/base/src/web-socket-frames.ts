/** The types of frames (RFC 6455, 5.2). */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** A complete message or a control frame. */
export interface WebSocketMessage {
  readonly opcode: number
  readonly payload: Buffer
}

/** Larger than any message of a Kubernetes stream, in one frame or in several. A larger one indicates an attack or a bug. */
const maxPayload = 32 * 1024 * 1024

/** Encodes a message as one frame. Clients must mask their frames, servers must not. */
export function encodeFrame(opcode: number, payload: Uint8Array, mask?: Uint8Array): Buffer {
  const { length } = payload
  const lengthBytes = length < 126 ? 0 : length < 65_536 ? 2 : 8
  const header = Buffer.alloc(2 + lengthBytes)
  header[0] = 0x80 | opcode
  header[1] = (mask ? 0x80 : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127)
  if (lengthBytes === 2) header.writeUInt16BE(length, 2)
  else if (lengthBytes === 8) header.writeBigUInt64BE(BigInt(length), 2)
  return mask ? Buffer.concat([header, mask, masked(payload, mask)]) : Buffer.concat([header, payload])
}

function masked(payload: Uint8Array, mask: Uint8Array): Buffer {
  const result = Buffer.from(payload)
  for (let index = 0; index < result.length; index++) result[index]! ^= mask[index % 4]!
  return result
}

/** Reassembles messages from chunks of any size. */
export class FrameReader {
  /** The chunks that are not part of a complete frame yet. */
  #chunks: Uint8Array[] = []
  #size = 0
  /** The number of bytes without which there is no further complete frame. Fewer are not joined, so that each byte is copied once. */
  #needed = 2
  #pending: Buffer = Buffer.alloc(0)
  #parts: Buffer[] = []
  #partsSize = 0
  #opcode = 0

  /** Returns the messages that the chunk completes. Throws when the bytes are not valid frames. */
  push(chunk: Uint8Array): WebSocketMessage[] {
    const messages: WebSocketMessage[] = []
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size < this.#needed) return messages
    this.#pending = Buffer.concat(this.#chunks)
    for (;;) {
      const frame = this.#frame()
      if (frame === undefined) {
        this.#chunks = [this.#pending]
        this.#size = this.#pending.length
        return messages
      }
      const { opcode, payload, isFinal } = frame
      if (opcode >= opcodes.close) {
        messages.push({ opcode, payload })
        continue
      }
      if (opcode !== opcodes.continuation) this.#opcode = opcode
      if (payload.length > 0) this.#parts.push(payload)
      this.#partsSize += payload.length
      if (this.#partsSize > maxPayload)
        throw new Error(`a WebSocket message of more than ${maxPayload} bytes is too large`)
      if (!isFinal) continue
      messages.push({ opcode: this.#opcode, payload: this.#parts.length === 1 ? payload : Buffer.concat(this.#parts) })
      this.#parts = []
      this.#partsSize = 0
    }
  }

  #frame(): { opcode: number; payload: Buffer; isFinal: boolean } | undefined {
    const bytes = this.#pending
    this.#needed = 2
    if (bytes.length < 2) return undefined
    const [first = 0, second = 0] = bytes
    const short = second & 0x7f
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
    const maskBytes = second & 0x80 ? 4 : 0
    const start = 2 + lengthBytes + maskBytes
    this.#needed = start
    if (bytes.length < start) return undefined
    const length =
      lengthBytes === 2 ? bytes.readUInt16BE(2) : lengthBytes === 8 ? Number(bytes.readBigUInt64BE(2)) : short
    if (length > maxPayload) throw new Error(`a WebSocket frame of ${length} bytes is too large`)
    this.#needed = start + length
    if (bytes.length < this.#needed) return undefined
    const raw = bytes.subarray(start, start + length)
    const payload = maskBytes === 0 ? raw : masked(raw, bytes.subarray(start - 4, start))
    this.#pending = bytes.subarray(start + length)
    return { opcode: first & 0x0f, payload, isFinal: (first & 0x80) !== 0 }
  }
}
