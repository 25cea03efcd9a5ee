import { append } from '../append.ts'

/** The universal DER tags that occur in certificates. */
export const derTag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** Encodes a value: tag, length, content. */
export function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content)
  return Buffer.concat([Buffer.from([tag, ...lengthOctets(body.length)]), body])
}

/** Lengths below 128 take one octet. Larger ones are prefixed by the number of octets. */
function lengthOctets(length: number): number[] {
  if (length < 0x80) return [length]
  const octets: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256)
  return [0x80 | octets.length, ...octets]
}

/** Encodes a SEQUENCE of values. */
export function derSequence(...items: readonly Uint8Array[]): Buffer {
  return der(derTag.sequence, ...items)
}

/** Encodes a SET of one value. More values would have to be sorted. */
export function derSetOf(item: Uint8Array): Buffer {
  return der(derTag.set, item)
}

/** Encodes a non-negative INTEGER given as big-endian bytes. */
export function derInteger(bytes: Uint8Array): Buffer {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const trimmed = bytes.subarray(start)
  // A leading one bit would make the number negative.
  return der(derTag.integer, Buffer.from((trimmed[0] ?? 0) & 0x80 ? [0] : []), trimmed)
}

/** Encodes an OBJECT IDENTIFIER given in dotted form. */
export function derOid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const octets = [first * 40 + second]
  for (const arc of rest) {
    const base128 = [arc & 0x7f]
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      base128.unshift((left & 0x7f) | 0x80)
    append(octets, base128)
  }
  return der(derTag.objectIdentifier, Buffer.from(octets))
}

/** Encodes a BIT STRING of whole octets. */
export function derBitString(bytes: Uint8Array): Buffer {
  return der(derTag.bitString, Buffer.from([0]), bytes)
}

/** Encodes a time as X.509 requires: UTCTime through 2049, GeneralizedTime from 2050 on. */
export function derTime(epochMillis: number): Buffer {
  // Example of the ISO form: 2026-01-02T03:04:05.678Z
  const digits = new Date(epochMillis).toISOString().replace(/[-T:]/g, '').slice(0, 14)
  const year = Number(digits.slice(0, 4))
  if (year >= 1950 && year < 2050) return der(derTag.utcTime, Buffer.from(`${digits.slice(2)}Z`, 'latin1'))
  return der(derTag.generalizedTime, Buffer.from(`${digits}Z`, 'latin1'))
}

/** A decoded DER value. */
export interface DerValue {
  readonly tag: number
  readonly content: Buffer
  /** The complete encoding: tag, length and content. */
  readonly bytes: Buffer
}

/** Decodes consecutive DER values. Throws a RangeError if the input is truncated or malformed. */
export function readDer(bytes: Uint8Array): DerValue[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const values: DerValue[] = []
  for (let at = 0; at < buffer.length; ) {
    const start = at
    const tag = buffer[at++]!
    if ((tag & 0x1f) === 0x1f) throw new RangeError('Cannot decode DER: multi-octet tags are not supported')
    let length = buffer[at++] ?? -1
    if (length & 0x80) {
      const octets = length & 0x7f
      if (octets === 0 || octets > 4) throw new RangeError('Cannot decode DER: malformed length')
      length = 0
      for (let i = 0; i < octets; i++) length = length * 256 + (buffer[at++] ?? Number.NaN)
    }
    if (!(length >= 0) || at + length > buffer.length) throw new RangeError('Cannot decode DER: truncated value')
    values.push({ tag, content: buffer.subarray(at, at + length), bytes: buffer.subarray(start, at + length) })
    at += length
  }
  return values
}

/** Decodes the values inside a constructed value. Throws a RangeError if its tag is not `tag`. */
export function readChildren(value: DerValue | undefined, tag: number): DerValue[] {
  if (value?.tag !== tag)
    throw new RangeError(`Cannot decode DER: expected tag ${tag}, got ${value?.tag ?? 'no value'}`)
  return readDer(value.content)
}

/** Decodes an OBJECT IDENTIFIER to its dotted form. */
export function readOid(value: DerValue | undefined): string {
  if (value?.tag !== derTag.objectIdentifier || value.content.length === 0)
    throw new RangeError('Cannot decode DER: expected an object identifier')
  const arcs: number[] = []
  let arc = 0
  for (const octet of value.content) {
    arc = arc * 128 + (octet & 0x7f)
    if (octet & 0x80) continue
    if (arcs.length === 0) arcs.push(Math.min(2, Math.floor(arc / 40)), arc - 40 * Math.min(2, Math.floor(arc / 40)))
    else arcs.push(arc)
    arc = 0
  }
  return arcs.join('.')
}

/** Encodes bytes as a PEM block. */
export function toPem(label: string, bytes: Uint8Array): string {
  const base64 = Buffer.from(bytes).toString('base64')
  return `-----BEGIN ${label}-----\n${base64.replace(/.{1,64}/g, '$&\n')}-----END ${label}-----\n`
}

/** A PEM block of a text. */
export interface PemBlock {
  readonly label: string
  /** The block with its first and last line. */
  readonly text: string
  /** The lines between them. */
  readonly body: string
  /** The position after the block. */
  readonly end: number
}

/**
 * The PEM blocks of a text, in linear time: the search for the end of a block does not start again at each `BEGIN` without an `END`. A strict
 * block has a label of capital letters, digits and spaces, and ends with its line.
 */
export function* pemBlocks(text: string, strict = false): Generator<PemBlock> {
  const ends = new Map<string, number[]>()
  for (const { 0: line, 1: label = '', index } of text.matchAll(/-----END ([^-\n]*)(?=-----)/g)) {
    const after = index + line.length + dashes.length
    if (strict && !/^(?:\r?\n|$)/.test(text.slice(after, after + 2))) continue
    const known = ends.get(label)
    if (known) known.push(index)
    else ends.set(label, [index])
  }
  for (const positions of ends.values()) positions.reverse()
  const begin = /-----BEGIN ([^-\n]*)-----\r?\n/g
  for (let match = begin.exec(text); match; match = begin.exec(text)) {
    const label = match[1]!
    if (strict && !/^[A-Z0-9 ]+$/.test(label)) continue
    // Positions before this block belong to no later block either.
    const positions = ends.get(label) ?? []
    while (positions.length > 0 && positions.at(-1)! < begin.lastIndex) positions.pop()
    const last = positions.at(-1)
    if (last === undefined) continue
    const body = text.slice(begin.lastIndex, last)
    const end = last + '-----END '.length + label.length + dashes.length
    yield { label, text: text.slice(match.index, end), body, end }
    begin.lastIndex = end
  }
}

const dashes = '-----'

/** Decodes the first PEM block; undefined if the text contains none. `rest` is the text after the block and its line end. */
export function fromPem(
  text: string,
): { readonly label: string; readonly bytes: Buffer; readonly rest: string } | undefined {
  for (const { label, body, end } of pemBlocks(text, true)) {
    return { label, bytes: Buffer.from(body, 'base64'), rest: text.slice(end).replace(/^\r?\n/, '') }
  }
  return undefined
}
