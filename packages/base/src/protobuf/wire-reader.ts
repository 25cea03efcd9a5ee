import { defineBudget } from '../budget.ts'
import { KubewrightError } from '../kubewright-error.ts'

/** The bytes are not a valid message. Its code is `KW_PROTOBUF`. The texts are those of Go's generated decoders, which kube-apiserver prints. */
export class ProtobufError extends KubewrightError {
  constructor(message: string) {
    super('KW_PROTOBUF', message)
  }
}

/** Deeper nesting is rejected. Real messages have no more than a few dozen levels. */
const maxDepth = defineBudget(1000, {
  group: 'server',
  what: 'nesting depth of protobuf',
  option: 'less: `limits.body.depth`, `up --max-body-depth`',
  answer: '400',
  kubernetes: '10,000',
})

const shortText = 12

/**
 * Reads a protobuf message in order. After {@link next} returned the number of a field, the caller reads its value with the method for
 * its type, or skips it. Throws {@link ProtobufError} when the bytes end too early or are malformed.
 */
export class WireReader {
  readonly #buffer: Buffer
  #at: number
  #end: number
  #depth = 0
  #wire = 0

  constructor(bytes: Uint8Array) {
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#at = 0
    this.#end = bytes.byteLength
  }

  /** Whether the current message has more fields. */
  get more(): boolean {
    return this.#at < this.#end
  }

  /** The number of the next field; 0 at the end of the message. */
  next(): number {
    if (!this.more) return 0
    const tag = this.uint32()
    this.#wire = tag & 7
    return tag >>> 3
  }

  /** A varint of up to 32 bits, such as a tag or a length; larger ones lose their upper bits. */
  uint32(): number {
    let value = this.#byte()
    if (value < 0x80) return value
    value &= 0x7f
    for (let shift = 7; shift < 70; shift += 7) {
      const byte = this.#byte()
      if (shift < 32) value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
    throw new ProtobufError('proto: integer overflow')
  }

  /** A signed integer of 64 bits: a number if that is exact, else a bigint. */
  int64(): number | bigint {
    const start = this.#at
    let small = 0
    // Seven bytes are 49 bits, which a number holds exactly.
    for (let unit = 1; unit < 2 ** 49; unit *= 128) {
      const byte = this.#byte()
      small += (byte & 0x7f) * unit
      if (byte < 0x80) return small
    }
    this.#at = start
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte >= 0x80) continue
      const signed = BigInt.asIntN(64, value)
      const number = Number(signed)
      return Number.isSafeInteger(number) ? number : signed
    }
    throw new ProtobufError('proto: integer overflow')
  }

  int32(): number {
    return this.uint32() | 0
  }

  bool(): boolean {
    return Number(this.int64()) !== 0
  }

  double(): number {
    const at = this.#take(8)
    return this.#buffer.readDoubleLE(at)
  }

  string(): string {
    const length = this.#length()
    const at = this.#take(length)
    if (length <= shortText) {
      // For short texts a loop is faster than a call into native code.
      let text = ''
      for (let i = at; i < at + length; i++) {
        const byte = this.#buffer[i]!
        if (byte > 0x7f) return this.#buffer.toString('utf8', at, at + length)
        text += String.fromCharCode(byte)
      }
      return text
    }
    return this.#buffer.toString('utf8', at, at + length)
  }

  /** A view of the bytes, not a copy. */
  bytes(): Buffer {
    const length = this.#length()
    const at = this.#take(length)
    return this.#buffer.subarray(at, at + length)
  }

  /** As {@link bytes}, with the length in front, for another reader. */
  framed(): Buffer {
    const at = this.#at
    this.#take(this.#length())
    return this.#buffer.subarray(at, this.#at)
  }

  /** Reads a nested message. While `read` runs, the reader ends where the nested message ends. */
  message<T>(read: (reader: WireReader) => T): T {
    const length = this.#length()
    const outer = this.#end
    const end = this.#at + length
    if (end > outer) throw new ProtobufError('unexpected EOF')
    if (++this.#depth > maxDepth) throw new ProtobufError('proto: exceeded max recursion depth')
    this.#end = end
    const value = read(this)
    this.#at = end
    this.#end = outer
    this.#depth--
    return value
  }

  /**
   * Reads the fields of a map entry as Go's generated decoders do, which check tags and ends less than in other messages: `read` receives
   * the number of each field and returns whether it has consumed the value, which may end behind the entry. The reader continues at the end
   * of the entry.
   */
  entry(read: (number: number) => boolean): void {
    const length = this.#length()
    const end = this.#at + length
    if (end > this.#end) throw new ProtobufError('unexpected EOF')
    while (this.#at < end) {
      const tag = this.uint32()
      if (read(tag >>> 3)) continue
      this.skip(tag & 7)
      if (this.#at > end) throw new ProtobufError('unexpected EOF')
    }
    this.#at = end
  }

  /** Skips the value of a field. @default the field that {@link next} returned last */
  skip(wire: number = this.#wire): void {
    if (wire === 0) this.int64()
    else if (wire === 1) this.#take(8)
    else if (wire === 2) this.#take(this.#length())
    else if (wire === 3) this.#skipGroup()
    else if (wire === 5) this.#take(4)
    else throw new ProtobufError(wire === 4 ? 'proto: unexpected end of group' : `proto: illegal wireType ${wire}`)
  }

  #skipGroup(): void {
    for (let depth = 1; depth > 0; ) {
      const wire = this.uint32() & 7
      if (wire === 3) depth++
      else if (wire === 4) depth--
      else this.skip(wire)
    }
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new ProtobufError('unexpected EOF')
    return this.#buffer[this.#at++]!
  }

  #length(): number {
    const length = this.uint32()
    if (length > 0x7fffffff) throw new ProtobufError('proto: negative length found during unmarshaling')
    return length
  }

  #take(length: number): number {
    const at = this.#at
    if (at + length > this.#end) throw new ProtobufError('unexpected EOF')
    this.#at = at + length
    return at
  }
}
