/** Writes protobuf messages, field by field; what is empty is left out, as proto3 does. */
export class ProtoWriter {
  readonly #chunks: Uint8Array[] = []
  #size = 0

  string(field: number, value: unknown): this {
    if (typeof value === 'string' && value !== '') this.bytes(field, Buffer.from(value))
    return this
  }

  strings(field: number, values: unknown): this {
    if (Array.isArray(values)) for (const value of values) this.bytes(field, Buffer.from(String(value)))
    return this
  }

  bool(field: number, value: unknown): this {
    if (value === true) this.#push(varint(field * 8), varint(1))
    return this
  }

  integer(field: number, value: unknown): this {
    if (typeof value === 'number' && value !== 0) this.#push(varint(field * 8), varint(value))
    return this
  }

  double(field: number, value: unknown): this {
    if (typeof value !== 'number' || value === 0) return this
    const bytes = Buffer.alloc(8)
    bytes.writeDoubleLE(value)
    this.#push(varint(field * 8 + 1), bytes)
    return this
  }

  /** A nested message; written even when it is empty, because its presence says something. */
  message(field: number, write: (writer: ProtoWriter) => void): this {
    const nested = new ProtoWriter()
    write(nested)
    return this.bytes(field, nested.finish())
  }

  bytes(field: number, value: Uint8Array): this {
    this.#push(varint(field * 8 + 2), varint(value.length), value)
    return this
  }

  finish(): Buffer {
    return Buffer.concat(this.#chunks, this.#size)
  }

  #push(...chunks: readonly Uint8Array[]): void {
    for (const chunk of chunks) {
      this.#chunks.push(chunk)
      this.#size += chunk.length
    }
  }
}

function varint(value: number): Uint8Array {
  if (value >= 0 && value < 128) return Uint8Array.of(value)
  const bytes: number[] = []
  // Negative numbers take ten bytes, as 64-bit two's complement.
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  bytes.push(Number(rest))
  return Uint8Array.from(bytes)
}
