/** The types of frames (RFC 6455, 5.2). */
export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** A complete message or a control frame. */
export interface WebSocketMessage {
  readonly opcode: number
  readonly payload: Buffer
}

/** Larger than any message of a Kubernetes stream. A larger frame indicates an attack or a bug. */
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
  #pending: Buffer = Buffer.alloc(0)
  #parts: Buffer[] = []
  #opcode = 0

  /** Returns the messages that the chunk completes. Throws when the bytes are not valid frames. */
  push(chunk: Uint8Array): WebSocketMessage[] {
    this.#pending = this.#pending.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#pending, chunk])
    const messages: WebSocketMessage[] = []
    for (;;) {
      const frame = this.#frame()
      if (frame === undefined) return messages
      const { opcode, payload, isFinal } = frame
      if (opcode >= opcodes.close) {
        messages.push({ opcode, payload })
        continue
      }
      if (opcode !== opcodes.continuation) this.#opcode = opcode
      this.#parts.push(payload)
      if (!isFinal) continue
      messages.push({ opcode: this.#opcode, payload: this.#parts.length === 1 ? payload : Buffer.concat(this.#parts) })
      this.#parts = []
    }
  }

  #frame(): { opcode: number; payload: Buffer; isFinal: boolean } | undefined {
    const bytes = this.#pending
    if (bytes.length < 2) return undefined
    const [first = 0, second = 0] = bytes
    const short = second & 0x7f
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0
    const maskBytes = second & 0x80 ? 4 : 0
    const start = 2 + lengthBytes + maskBytes
    if (bytes.length < start) return undefined
    const length =
      lengthBytes === 2 ? bytes.readUInt16BE(2) : lengthBytes === 8 ? Number(bytes.readBigUInt64BE(2)) : short
    if (length > maxPayload) throw new Error(`a WebSocket frame of ${length} bytes is too large`)
    if (bytes.length < start + length) return undefined
    const raw = bytes.subarray(start, start + length)
    const payload = maskBytes === 0 ? raw : masked(raw, bytes.subarray(start - 4, start))
    this.#pending = bytes.subarray(start + length)
    return { opcode: first & 0x0f, payload, isFinal: (first & 0x80) !== 0 }
  }
}
