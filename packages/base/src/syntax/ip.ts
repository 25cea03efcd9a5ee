// IP addresses and prefixes with the parsing, printing, classification and error texts of Go's net/netip; the texts
// surface through CEL's ip() and cidr(). The sloppy parsers at the end are the ones that Kubernetes keeps for old API
// fields, in which "010.0.0.1" means 10.0.0.1.
import { goQuote } from './go-quote.ts'

/** An immutable IPv4 or IPv6 address. IPv6 addresses may have a zone. */
export class IPAddress {
  /** 4 or 16 bytes, most significant first. Do not modify. */
  readonly bytes: Uint8Array
  readonly zone: string

  constructor(bytes: Uint8Array, zone = '') {
    if (bytes.length !== 4 && bytes.length !== 16) {
      throw new RangeError(`Cannot create IP address: expected 4 or 16 bytes, got ${bytes.length}`)
    }
    this.bytes = bytes
    this.zone = zone
  }

  /** Parses an address. Throws a SyntaxError with the text of Go's netip.ParseAddr. */
  static parse(text: string): IPAddress {
    for (const char of text) {
      if (char === '.') return new IPAddress(parseIPv4Fields(text, text))
      if (char === ':') return parseIPv6(text)
      if (char === '%') throw addressError(text, 'missing IPv6 address')
    }
    throw addressError(text, 'unable to parse IP')
  }

  /** 4 or 6. An IPv4 address mapped into IPv6 has family 6. */
  get family(): 4 | 6 {
    return this.bytes.length === 4 ? 4 : 6
  }

  get bitLength(): 32 | 128 {
    return this.bytes.length === 4 ? 32 : 128
  }

  /** Reports whether this is an IPv4-mapped address, `::ffff:a.b.c.d`. */
  is4In6(): boolean {
    const { bytes } = this
    return (
      bytes.length === 16 && bytes[10] === 0xff && bytes[11] === 0xff && bytes.subarray(0, 10).every((b) => b === 0)
    )
  }

  /** Returns the IPv4 address inside an IPv4-mapped address, else this address. */
  unmap(): IPAddress {
    return this.is4In6() ? new IPAddress(this.bytes.slice(12)) : this
  }

  isUnspecified(): boolean {
    return this.zone === '' && this.bytes.every((b) => b === 0)
  }

  isLoopback(): boolean {
    const { bytes } = this.unmap()
    if (bytes.length === 4) return bytes[0] === 127
    return bytes[15] === 1 && bytes.subarray(0, 15).every((b) => b === 0)
  }

  isMulticast(): boolean {
    const { bytes } = this.unmap()
    return bytes.length === 4 ? (byteAt(bytes, 0) & 0xf0) === 0xe0 : bytes[0] === 0xff
  }

  isLinkLocalMulticast(): boolean {
    const { bytes } = this.unmap()
    if (bytes.length === 4) return bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0
    return bytes[0] === 0xff && (byteAt(bytes, 1) & 0x0f) === 0x02
  }

  isLinkLocalUnicast(): boolean {
    const { bytes } = this.unmap()
    if (bytes.length === 4) return bytes[0] === 169 && bytes[1] === 254
    return bytes[0] === 0xfe && (byteAt(bytes, 1) & 0xc0) === 0x80
  }

  /**
   * Reports whether the address is neither unspecified, broadcast, loopback, multicast nor link-local. Private
   * addresses count as global.
   */
  isGlobalUnicast(): boolean {
    const plain = this.unmap()
    if (plain.family === 4 && (plain.isUnspecified() || plain.bytes.every((b) => b === 255))) return false
    const isZero = plain.bytes.every((b) => b === 0) && plain.zone === ''
    return !isZero && !plain.isLoopback() && !plain.isMulticast() && !plain.isLinkLocalUnicast()
  }

  /** Orders addresses: IPv4 before IPv6, then by bytes, then by zone. */
  compare(other: IPAddress): number {
    if (this.bitLength !== other.bitLength) return this.bitLength - other.bitLength
    for (let i = 0; i < this.bytes.length; i++) {
      const difference = byteAt(this.bytes, i) - byteAt(other.bytes, i)
      if (difference !== 0) return difference
    }
    return this.zone < other.zone ? -1 : this.zone > other.zone ? 1 : 0
  }

  equal(other: IPAddress): boolean {
    return this.compare(other) === 0
  }

  /** Formats the address canonically (RFC 5952). */
  toString(): string {
    if (this.family === 4) return this.bytes.join('.')
    const zone = this.zone === '' ? '' : `%${this.zone}`
    return (this.is4In6() ? `::ffff:${this.bytes.slice(12).join('.')}` : printIPv6(this.bytes)) + zone
  }
}

/** A network: an address and the number of leading bits that identify the network. */
export class IPPrefix {
  readonly address: IPAddress
  readonly bits: number

  constructor(address: IPAddress, bits: number) {
    this.address = address
    this.bits = bits
  }

  /** Parses a prefix. Throws a SyntaxError with the text of Go's netip.ParsePrefix. */
  static parse(text: string): IPPrefix {
    const slash = text.lastIndexOf('/')
    if (slash < 0) throw prefixError(text, "no '/'")
    const address = parsePrefixAddress(text, text.slice(0, slash))
    if (address.zone !== '') throw prefixError(text, 'IPv6 zones cannot be present in a prefix')
    const bitsText = text.slice(slash + 1)
    if (!/^(?:[0-9]|[1-9][0-9]+)$/.test(bitsText) || BigInt(bitsText) >= 2n ** 63n) {
      // Go has a separate check for signs in strconv.Atoi; it rejects them all with this same text.
      throw prefixError(text, `bad bits after slash: ${goQuote(bitsText)}`)
    }
    const bits = Number(bitsText)
    if (bits > address.bitLength) throw prefixError(text, 'prefix length out of range')
    return new IPPrefix(address, bits)
  }

  /** Returns the prefix with the host bits of its address cleared. */
  masked(): IPPrefix {
    return new IPPrefix(new IPAddress(maskBytes(this.address.bytes, this.bits)), this.bits)
  }

  /** Reports whether the network contains `address`. False for an address of the other family or with a zone. */
  contains(address: IPAddress): boolean {
    if (address.zone !== '' || address.bitLength !== this.address.bitLength) return false
    return sameLeadingBits(this.address.bytes, address.bytes, this.bits)
  }

  /** Reports whether the two networks share an address. */
  overlaps(other: IPPrefix): boolean {
    if (this.address.bitLength !== other.address.bitLength) return false
    return sameLeadingBits(this.address.bytes, other.address.bytes, Math.min(this.bits, other.bits))
  }

  equal(other: IPPrefix): boolean {
    return this.bits === other.bits && this.address.equal(other.address)
  }

  toString(): string {
    return `${this.address}/${this.bits}`
  }
}

/**
 * Parses an address with the rules of old API fields: IPv4 octets may have leading zeros, zones are not allowed.
 * Returns undefined if the text is invalid.
 */
export function parseIPSloppy(text: string): IPAddress | undefined {
  for (const char of text) {
    if (char === '.') return parseSloppy(text, 4)
    if (char === ':') return parseSloppy(text, 6)
  }
  return undefined
}

/**
 * Parses a prefix with the rules of old API fields. The address is not masked. Returns undefined if the text is
 * invalid.
 */
export function parseCIDRSloppy(text: string): IPPrefix | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const addressText = text.slice(0, slash)
  const address = parseSloppy(addressText, 4) ?? parseSloppy(addressText, 6)
  const bits = /^[0-9]+$/.test(text.slice(slash + 1)) ? Number(text.slice(slash + 1)) : Number.NaN
  return address !== undefined && bits <= address.bitLength ? new IPPrefix(address, bits) : undefined
}

/** Formats an address like Go's net.IP.String: IPv4-mapped addresses print as IPv4. */
export function formatNetIP(address: IPAddress): string {
  return address.unmap().toString()
}

function addressError(input: string, message: string, at = ''): SyntaxError {
  return new SyntaxError(`ParseAddr(${goQuote(input)}): ${message}${at === '' ? '' : ` (at ${goQuote(at)})`}`)
}

function prefixError(input: string, message: string): SyntaxError {
  return new SyntaxError(`netip.ParsePrefix(${goQuote(input)}): ${message}`)
}

function parsePrefixAddress(prefix: string, text: string): IPAddress {
  try {
    return IPAddress.parse(text)
  } catch (error) {
    throw prefixError(prefix, (error as SyntaxError).message)
  }
}

/** Parses the four octets of `text`. `input` is the complete address, for the error. */
function parseIPv4Fields(input: string, text: string): Uint8Array {
  const fields = new Uint8Array(4)
  let value = 0
  let digits = 0
  let field = 0
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i)
    if (char >= '0' && char <= '9') {
      if (digits === 1 && value === 0) throw addressError(input, 'IPv4 field has octet with leading zero')
      value = value * 10 + Number(char)
      digits++
      if (value > 255) throw addressError(input, 'IPv4 field has value >255')
    } else if (char === '.') {
      if (i === 0 || i === text.length - 1 || text[i - 1] === '.') {
        throw addressError(input, 'IPv4 field must have at least one digit', text.slice(i))
      }
      if (field === 3) throw addressError(input, 'IPv4 address too long')
      fields[field++] = value
      value = 0
      digits = 0
    } else {
      throw addressError(input, 'unexpected character', text.slice(i))
    }
  }
  if (field < 3) throw addressError(input, 'IPv4 address too short')
  fields[3] = value
  return fields
}

function parseIPv6(input: string): IPAddress {
  const percent = input.indexOf('%')
  const zone = percent < 0 ? '' : input.slice(percent + 1)
  if (percent >= 0 && zone === '') throw addressError(input, 'zone must be a non-empty string')
  let rest = percent < 0 ? input : input.slice(0, percent)
  const bytes = new Uint8Array(16)
  let ellipsis = -1
  let filled = 0
  if (rest.startsWith('::')) {
    ellipsis = 0
    rest = rest.slice(2)
    if (rest === '') return new IPAddress(bytes, zone)
  }
  while (filled < 16) {
    const group = /^[0-9a-fA-F]*/.exec(rest)?.[0] ?? ''
    if (group.length > 4) throw addressError(input, 'each group must have 4 or less digits', rest)
    if (group === '') throw addressError(input, 'each colon-separated field must have at least one digit', rest)
    if (rest.charAt(group.length) === '.') {
      if (ellipsis < 0 && filled !== 12) {
        throw addressError(input, 'embedded IPv4 address must replace the final 2 fields of the address', rest)
      }
      if (filled + 4 > 16) {
        throw addressError(input, 'too many hex fields to fit an embedded IPv4 at the end of the address', rest)
      }
      bytes.set(parseIPv4Fields(input, rest), filled)
      filled += 4
      rest = ''
      break
    }
    const value = Number.parseInt(group, 16)
    bytes[filled++] = value >> 8
    bytes[filled++] = value & 0xff
    rest = rest.slice(group.length)
    if (rest === '') break
    if (!rest.startsWith(':')) throw addressError(input, 'unexpected character, want colon', rest)
    if (rest.length === 1) throw addressError(input, 'colon must be followed by more characters', rest)
    rest = rest.slice(1)
    if (rest.startsWith(':')) {
      if (ellipsis >= 0) throw addressError(input, 'multiple :: in address', rest)
      ellipsis = filled
      rest = rest.slice(1)
      if (rest === '') break
    }
  }
  if (rest !== '') throw addressError(input, 'trailing garbage after address', rest)
  if (filled < 16) {
    if (ellipsis < 0) throw addressError(input, 'address string too short')
    bytes.copyWithin(ellipsis + 16 - filled, ellipsis, filled)
    bytes.fill(0, ellipsis, ellipsis + 16 - filled)
  } else if (ellipsis >= 0) {
    throw addressError(input, 'the :: must expand to at least one field of zeros')
  }
  return new IPAddress(bytes, zone)
}

function printIPv6(bytes: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, i) => (byteAt(bytes, 2 * i) << 8) | byteAt(bytes, 2 * i + 1))
  let start = -1
  let length = 1
  for (let i = 0; i < 8; i++) {
    let end = i
    while (end < 8 && groups[end] === 0) end++
    // The first of the longest runs of at least two zero groups is abbreviated to `::`.
    if (end - i > length) [start, length] = [i, end - i]
  }
  const hex = groups.map((group) => group.toString(16))
  if (start < 0) return hex.join(':')
  return `${hex.slice(0, start).join(':')}::${hex.slice(start + length).join(':')}`
}

/** The digits and dots at the end of the text; empty if they contain no dot. Not a regular expression, which would take cubic time. */
function trailingIPv4(text: string): string {
  let start = text.length
  while (start > 0 && '0123456789.'.includes(text[start - 1]!)) start--
  const tail = text.slice(start)
  return tail.includes('.') ? tail : ''
}

/** The sloppy syntax extends the strict one by leading zeros only, so they are removed before strict parsing. */
function parseSloppy(text: string, family: 4 | 6): IPAddress | undefined {
  if (text.includes('%')) return undefined
  const embedded = trailingIPv4(text)
  const strict = text.slice(0, text.length - embedded.length) + embedded.replace(/(^|\.)0+(?=[0-9])/g, '$1')
  try {
    // Hexadecimal groups may have any number of leading zeros too.
    const address = IPAddress.parse(family === 6 ? strict.replace(/(^|:)0+(?=[0-9a-fA-F]{4})/g, '$1') : strict)
    return address.family === family ? address : undefined
  } catch {
    return undefined
  }
}

function maskBytes(bytes: Uint8Array, bits: number): Uint8Array {
  return bytes.map((byte, i) => byte & byteMask(bits - 8 * i))
}

function sameLeadingBits(a: Uint8Array, b: Uint8Array, bits: number): boolean {
  for (let i = 0; 8 * i < bits; i++) {
    if (((byteAt(a, i) ^ byteAt(b, i)) & byteMask(bits - 8 * i)) !== 0) return false
  }
  return true
}

function byteMask(bits: number): number {
  return bits >= 8 ? 0xff : bits <= 0 ? 0 : (0xff << (8 - bits)) & 0xff
}

function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0
}
