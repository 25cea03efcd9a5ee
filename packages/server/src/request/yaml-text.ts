import { CaughtError } from '@kubewright/base'

const utf8 = new TextDecoder('utf-8', { fatal: true })
const printable = /^[\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u

/**
 * Decodes a YAML body as go-yaml does: as UTF-8, or as UTF-16 if it starts with a byte order mark. Unlike JSON, YAML may not contain invalid
 * bytes: throws an Error with go-yaml's message for the first of them.
 */
export function yamlTextOf(body: Uint8Array): string {
  if (body[0] === 0xff && body[1] === 0xfe) return new TextDecoder('utf-16le').decode(body)
  if (body[0] === 0xfe && body[1] === 0xff) return new TextDecoder('utf-16be').decode(body)
  try {
    return utf8.decode(body)
  } catch {
    throw new CaughtError(`yaml: ${problemOf(body)}`)
  }
}

/** Names the first problem of a body that is not UTF-8, in the order of the checks in go-yaml's reader. */
function problemOf(body: Uint8Array): string {
  for (let at = 0; at < body.length; ) {
    const lead = body[at]!
    const width = lead < 0x80 ? 1 : lead >> 5 === 0b110 ? 2 : lead >> 4 === 0b1110 ? 3 : lead >> 3 === 0b11110 ? 4 : 0
    const problem = problemAt(body, at, width)
    if (problem !== undefined) {
      const isReached = printable.test(utf8.decode(body.subarray(0, at)))
      return isReached ? problem : 'control characters are not allowed'
    }
    at += width
  }
  return 'control characters are not allowed'
}

function problemAt(body: Uint8Array, at: number, width: number): string | undefined {
  if (width === 0) return 'invalid leading UTF-8 octet'
  if (at + width > body.length) return 'incomplete UTF-8 octet sequence'
  const trailing = body.subarray(at + 1, at + width)
  if (trailing.some((octet) => octet >> 6 !== 0b10)) return 'invalid trailing UTF-8 octet'
  const lead = width === 1 ? body[at]! : body[at]! & (0xff >> (width + 1))
  const value = trailing.reduce((sum, octet) => (sum << 6) | (octet & 0x3f), lead)
  if (width > 1 && value < [0, 0, 0x80, 0x800, 0x10000][width]!) return 'invalid length of a UTF-8 sequence'
  return (value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff ? 'invalid Unicode character' : undefined
}
