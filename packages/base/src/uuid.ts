import type { Random } from './random.ts'

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** A random UUID (version 4, RFC 9562) in lower case, as Kubernetes writes `metadata.uid`. */
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

/** A random identifier of 8 hexadecimal digits for people to tell things of one process apart: not unique enough to be a key. */
export function shortId(random: Random): string {
  return random
    .int(2 ** 32)
    .toString(16)
    .padStart(8, '0')
}
