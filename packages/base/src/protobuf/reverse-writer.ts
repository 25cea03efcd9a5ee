/** Scratch space larger than this is not kept for the next writer. */
const keptBytes = 1 << 20

/** The buffer for the next writer. Undefined while a writer has it, so that writers never share one. */
let scratch: Buffer | undefined

/**
 * Writes a protobuf message from its end to its beginning. When a length is written, its content is already there, so nothing is
 * measured twice or moved. The caller writes fields, items and entries in reverse order, and the tag of a field after its value.
 * {@link ProtoMessage} is simpler where speed does not matter.
 */
export class ReverseWriter {
  #buffer: Buffer
  #at: number

  constructor() {
    this.#buffer = scratch ?? Buffer.allocUnsafeSlow(1 << 14)
    this.#at = this.#buffer.length
    scratch = undefined
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#buffer.length - this.#at
  }

  /** A copy of the written bytes behind `head` bytes that the caller fills in. The writer must not be used after this call. */
  finish(head = 0): Buffer {
    const out = Buffer.allocUnsafe(head + this.length)
    this.#buffer.copy(out, head, this.#at)
    if (this.#buffer.length <= keptBytes) scratch = this.#buffer
    return out
  }

  /** Writes an integer of up to 64 bits. Negative ones take ten bytes, as two's complement. */
  varint(value: number | bigint): void {
    this.#reserve(10)
    if (typeof value === 'number' && value >= 0 && value <= 0x7fffffff) {
      const buffer = this.#buffer
      if (value < 0x80) {
        buffer[--this.#at] = value
        return
      }
      const size = value < 0x4000 ? 2 : value < 0x200000 ? 3 : value < 0x10000000 ? 4 : 5
      this.#at -= size
      let at = this.#at
      let rest = value
      for (; rest > 0x7f; rest >>>= 7) buffer[at++] = (rest & 0x7f) | 0x80
      buffer[at] = rest
      return
    }
    const digits: number[] = []
    let rest = BigInt.asUintN(64, BigInt(value))
    for (; rest > 0x7fn; rest >>= 7n) digits.push(Number(rest & 0x7fn) | 0x80)
    digits.push(Number(rest))
    this.#at -= digits.length
    this.#buffer.set(digits, this.#at)
  }

  double(value: number): void {
    this.#reserve(8)
    this.#at -= 8
    this.#buffer.writeDoubleLE(value, this.#at)
  }

  /** Writes a text and its length. */
  string(text: string): void {
    const { length } = text
    if (length <= 24 && this.#ascii(text)) {
      this.varint(length)
      return
    }
    const size = Buffer.byteLength(text)
    this.#reserve(size)
    this.#at -= size
    this.#buffer.write(text, this.#at, size)
    this.varint(size)
  }

  /** Writes bytes and their length. */
  bytes(value: Uint8Array): void {
    this.raw(value)
    this.varint(value.length)
  }

  /** Writes bytes without a length. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length)
    this.#at -= value.length
    this.#buffer.set(value, this.#at)
  }

  /** Writes an ASCII text; returns false for others. For short texts a loop is faster than a call into native code. */
  #ascii(text: string): boolean {
    this.#reserve(text.length)
    const buffer = this.#buffer
    let at = this.#at
    for (let i = text.length - 1; i >= 0; i--) {
      const code = text.charCodeAt(i)
      if (code > 0x7f) return false
      buffer[--at] = code
    }
    this.#at = at
    return true
  }

  #reserve(size: number): void {
    if (this.#at >= size) return
    const { length } = this
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.length * 2, length + size))
    const at = larger.length - length
    this.#buffer.copy(larger, at, this.#at)
    this.#buffer = larger
    this.#at = at
  }
}
