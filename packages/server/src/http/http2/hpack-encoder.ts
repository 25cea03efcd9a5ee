import { staticNames, staticValues } from './static-table.ts'

/** The first static index of each name. */
const indexOfName = new Map<string, number>()
for (let index = staticNames.length - 1; index > 0; index--) indexOfName.set(staticNames[index]!, index)
/** The static index of each status that has one. */
const indexOfStatus = new Map<number, number>()
for (let index = 8; index <= 14; index++) indexOfStatus.set(Number(staticValues[index]), index)

/** Sets the size of the dynamic table to zero. */
export const emptyTable = 0x20

/** Longer blocks are encoded into a buffer of their own. */
let scratch = Buffer.allocUnsafe(8 * 1024)

/**
 * Encodes the header block of a response. The encoding uses only the static table and no Huffman code: that costs the least CPU, and the
 * blocks do not depend on each other. `prefix`, if given, is the first byte.
 */
export function encodeHeaders(
  status: number,
  headers: Readonly<Record<string, string | readonly string[]>>,
  prefix?: number,
): Buffer {
  let bytes = 64
  for (const name in headers) {
    const value = headers[name]!
    if (typeof value === 'string') bytes += name.length + value.length + 16
    else for (const one of value) bytes += name.length + one.length + 16
  }
  if (bytes > scratch.length) scratch = Buffer.allocUnsafe(bytes * 2)
  let at = 0
  if (prefix !== undefined) scratch[at++] = prefix
  const index = indexOfStatus.get(status)
  if (index !== undefined) scratch[at++] = 0x80 | index
  else at = writeHeader(at, ':status', String(status))
  for (const name in headers) {
    const value = headers[name]!
    if (typeof value === 'string') at = writeHeader(at, name, value)
    else for (const one of value) at = writeHeader(at, name, one)
  }
  return Buffer.from(scratch.subarray(0, at))
}

/** Writes a literal without indexing. Returns the position after it. */
function writeHeader(start: number, name: string, value: string): number {
  let at = start
  const index = indexOfName.get(name)
  if (index !== undefined) at = writeInteger(at, 0, 4, index)
  else {
    scratch[at++] = 0
    at = writeString(at, name.toLowerCase())
  }
  return writeString(at, value)
}

function writeString(start: number, text: string): number {
  const at = writeInteger(start, 0, 7, text.length)
  return at + scratch.write(text, at, 'latin1')
}

function writeInteger(start: number, flags: number, bits: number, value: number): number {
  let at = start
  const mask = 2 ** bits - 1
  if (value < mask) {
    scratch[at++] = flags | value
    return at
  }
  scratch[at++] = flags | mask
  let rest = value - mask
  while (rest >= 0x80) {
    scratch[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  scratch[at++] = rest
  return at
}
