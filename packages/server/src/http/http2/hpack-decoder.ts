import { ErrorCode, ProtocolError } from './frames.ts'
import { decodeHuffman } from './huffman.ts'
import { staticNames, staticValues } from './static-table.ts'

/** The size of the dynamic table, which is HTTP/2's default: the server announces no other. */
const maxTableBytes = 4096
/** The bytes that an entry counts in addition to its name and value. */
const entryOverhead = 32
const validName = /^:?[!#$%&'*+\-.^_`|~0-9a-z]+$/
/** Control characters except the tab. */
const invalidValue = /[^\t\x20-\x7e\x80-\xff]/

/** Limits of one header block. */
export interface HeaderLimits {
  /** Bytes of all names and values; each header counts 32 more. */
  readonly headerBytes: number
  readonly headers: number
}

/**
 * Decodes the header blocks of one connection (RFC 7541). Blocks must be decoded in the order in which they arrive, including those of
 * streams that are refused, because they change the dynamic table.
 */
export class HpackDecoder {
  readonly #limits: HeaderLimits
  /** The dynamic table; the newest entry is the last. */
  readonly #names: string[] = []
  readonly #values: string[] = []
  #bytes = 0
  #maxBytes = maxTableBytes
  #block: Buffer = Buffer.alloc(0)
  #at = 0
  /** The name and value that were decoded last. */
  #name = ''
  #value = ''

  constructor(limits: HeaderLimits) {
    this.#limits = limits
  }

  /**
   * Decodes a block to alternating names and values. Returns undefined if the headers exceed a limit.
   * @throws ProtocolError if the block is malformed
   */
  decode(block: Buffer): string[] | undefined {
    this.#block = block
    this.#at = 0
    const pairs: string[] = []
    let bytes = 0
    let isTooLarge = false
    while (this.#at < block.length) {
      if (!this.#decodeField(pairs.length === 0 && !isTooLarge)) continue
      bytes += this.#name.length + this.#value.length + entryOverhead
      if (bytes > this.#limits.headerBytes || pairs.length >= this.#limits.headers * 2) isTooLarge = true
      if (!isTooLarge) pairs.push(this.#name, this.#value)
    }
    this.#block = Buffer.alloc(0)
    return isTooLarge ? undefined : pairs
  }

  /** Decodes the next representation. Returns false for a change of the table size, which is not a header. */
  #decodeField(isFirst: boolean): boolean {
    const byte = this.#block[this.#at]!
    if (byte & 0x80) {
      const index = this.#integer(7)
      this.#name = this.#nameAt(index)
      this.#value = index < staticNames.length ? (staticValues[index] ?? '') : this.#values[this.#positionOf(index)]!
      return true
    }
    if ((byte & 0xe0) === 0x20) {
      const size = this.#integer(5)
      if (!isFirst || size > maxTableBytes) throw invalid('invalid change of the table size')
      this.#maxBytes = size
      this.#evict(0)
      return false
    }
    const isIndexed = (byte & 0x40) !== 0
    const index = this.#integer(isIndexed ? 6 : 4)
    if (index > 0) this.#name = this.#nameAt(index)
    else {
      this.#name = this.#string()
      if (!validName.test(this.#name)) throw new ProtocolError(ErrorCode.protocolError, 'invalid header name')
    }
    this.#value = this.#string()
    if (invalidValue.test(this.#value)) throw new ProtocolError(ErrorCode.protocolError, 'invalid header value')
    if (isIndexed) this.#add(this.#name, this.#value)
    return true
  }

  #nameAt(index: number): string {
    if (index === 0) throw invalid('index 0')
    return index < staticNames.length ? staticNames[index]! : this.#names[this.#positionOf(index)]!
  }

  #positionOf(index: number): number {
    const position = this.#names.length - 1 - (index - staticNames.length)
    if (position < 0) throw invalid('index beyond the table')
    return position
  }

  #add(name: string, value: string): void {
    const bytes = name.length + value.length + entryOverhead
    this.#evict(bytes)
    // An entry larger than the table empties it and is not added.
    if (bytes > this.#maxBytes) return
    this.#names.push(name)
    this.#values.push(value)
    this.#bytes += bytes
  }

  /** Removes the oldest entries until there is room for the given bytes. */
  #evict(bytes: number): void {
    while (this.#names.length > 0 && this.#bytes + bytes > this.#maxBytes) {
      this.#bytes -= this.#names.shift()!.length + this.#values.shift()!.length + entryOverhead
    }
  }

  #integer(bits: number): number {
    const mask = 2 ** bits - 1
    let value = this.#byte() & mask
    if (value < mask) return value
    for (let shift = 0; ; shift += 7) {
      // Longer integers exceed every limit.
      if (shift > 21) throw invalid('integer too large')
      const byte = this.#byte()
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
  }

  #string(): string {
    const isHuffman = (this.#block[this.#at] ?? 0) >= 0x80
    const length = this.#integer(7)
    const start = this.#at
    const end = start + length
    if (end > this.#block.length) throw invalid('string beyond the block')
    this.#at = end
    if (!isHuffman) return this.#block.toString('latin1', start, end)
    const decoded = decodeHuffman(this.#block, start, end)
    if (decoded === undefined) throw invalid('invalid Huffman code')
    return decoded
  }

  #byte(): number {
    const byte = this.#block[this.#at++]
    if (byte === undefined) throw invalid('truncated block')
    return byte
  }
}

function invalid(reason: string): ProtocolError {
  return new ProtocolError(ErrorCode.compressionError, reason)
}
