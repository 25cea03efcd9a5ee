// The part of the protocol buffers wire format that etcd's messages use: varints and length-delimited fields.

const varintType = 0
const fixed64Type = 1
const bytesType = 2
const fixed32Type = 5
const empty = new Uint8Array(0)

/**
 * A message under construction. Parts are kept apart until the end, so that a value is copied once however deep it is
 * nested.
 */
export class ProtoMessage {
  readonly #parts: Uint8Array[] = []
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Adds an integer or a boolean; zero and false are what a missing field means, and are left out. */
  integer(field: number, value: number | boolean | undefined): this {
    const number = Number(value ?? 0)
    return number === 0 ? this : this.#add(varint(field * 8 + varintType, number))
  }

  /** Adds an integer also when it is zero, as a member of a oneof needs it. */
  present(field: number, value: number): this {
    return this.#add(varint(field * 8 + varintType, value))
  }

  bytes(field: number, value: Uint8Array): this {
    return value.length === 0 ? this : this.#add(varint(field * 8 + bytesType, value.length)).#add(value)
  }

  text(field: number, value: string): this {
    return this.bytes(field, Buffer.from(value, 'utf8'))
  }

  /** Adds a nested message, also an empty one. */
  message(field: number, value: ProtoMessage): this {
    this.#add(varint(field * 8 + bytesType, value.#size))
    for (const part of value.#parts) this.#parts.push(part)
    this.#size += value.#size
    return this
  }

  /** The bytes of the message behind a head of the given length that the caller fills in. */
  encode(head = 0): Buffer {
    const buffer = Buffer.allocUnsafe(head + this.#size)
    let at = head
    for (const part of this.#parts) {
      buffer.set(part, at)
      at += part.length
    }
    return buffer
  }

  #add(part: Uint8Array): this {
    this.#parts.push(part)
    this.#size += part.length
    return this
  }
}

/** A tag and a number in one piece. Numbers are revisions, lengths and the like: never negative, always safe integers. */
function varint(tag: number, value: number): Uint8Array {
  const buffer = Buffer.allocUnsafe(16)
  return buffer.subarray(0, putVarint(buffer, value, putVarint(buffer, tag, 0)))
}

function putVarint(buffer: Uint8Array, value: number, start: number): number {
  let at = start
  let rest = value
  while (rest >= 0x80) {
    buffer[at++] = (rest % 0x80) + 0x80
    rest = Math.floor(rest / 0x80)
  }
  buffer[at++] = rest
  return at
}

/**
 * Reads the fields of one message in order: `next()` moves on to a field, then one of the others must take or skip its
 * value.
 */
export class ProtoReader {
  readonly #buffer: Uint8Array
  readonly #end: number
  #at: number
  #type = varintType

  constructor(buffer: Uint8Array, start = 0, end: number = buffer.length) {
    this.#buffer = buffer
    this.#at = start
    this.#end = end
  }

  /** The number of the next field; 0 at the end. */
  next(): number {
    if (this.#at >= this.#end) return 0
    const tag = this.#varint()
    this.#type = tag & 7
    return Math.floor(tag / 8)
  }

  integer(): number {
    return this.#varint()
  }

  boolean(): boolean {
    return this.#varint() !== 0
  }

  /** A view into the message's buffer. */
  bytes(): Uint8Array {
    const length = this.#varint()
    const start = this.#at
    this.#at = this.#checked(start + length)
    return length === 0 ? empty : this.#buffer.subarray(start, this.#at)
  }

  text(): string {
    const length = this.#varint()
    const start = this.#at
    this.#at = this.#checked(start + length)
    return Buffer.from(this.#buffer.buffer, this.#buffer.byteOffset + start, length).toString('utf8')
  }

  message(): ProtoReader {
    const length = this.#varint()
    const start = this.#at
    this.#at = this.#checked(start + length)
    return new ProtoReader(this.#buffer, start, this.#at)
  }

  /** Passes over a field that is of no interest, or that a newer etcd has added. */
  skip(): void {
    if (this.#type === varintType) {
      while (this.#byte() >= 0x80);
    } else if (this.#type === fixed64Type) this.#at = this.#checked(this.#at + 8)
    else if (this.#type === bytesType) this.bytes()
    else if (this.#type === fixed32Type) this.#at = this.#checked(this.#at + 4)
    else throw new RangeError(`Cannot read message: wire type ${this.#type} is unknown`)
  }

  #varint(): number {
    const start = this.#at
    let value = 0
    for (let scale = 1; this.#at - start < 7; scale *= 0x80) {
      const byte = this.#byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
    // Beyond 49 bits: negative numbers, which take ten bytes, or revisions that nobody will live to see.
    let wide = BigInt(value)
    for (let shift = 49n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      wide |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return Number(BigInt.asIntN(64, wide))
    }
    throw new RangeError('Cannot read message: a number has more than ten bytes')
  }

  #byte(): number {
    if (this.#at >= this.#end) throw new RangeError('Cannot read message: it ends within a field')
    return this.#buffer[this.#at++]!
  }

  #checked(at: number): number {
    if (at > this.#end) throw new RangeError('Cannot read message: it ends within a field')
    return at
  }
}
