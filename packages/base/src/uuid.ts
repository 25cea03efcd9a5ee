import type { Random } from './random.ts'

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** Returns a random UUID (version 4, RFC 9562) in lower case, the format of `metadata.uid`. */
export function uuid(random: Random): string {
  const bytes = random.bytes(16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  let text = ''
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) text += '-'
    text += HEX[bytes[i] ?? 0]
  }
  return text
}

/**
 * Returns a random identifier of 8 hexadecimal digits that helps people distinguish objects of one process. Not unique
 * enough for a key.
 */
export function shortId(random: Random): string {
  return random
    .int(2 ** 32)
    .toString(16)
    .padStart(8, '0')
}
