import { timingSafeEqual } from 'node:crypto'

// XSalsa20-Poly1305 as in NaCl's crypto_secretbox, which Node's crypto module lacks. Written from the specifications: "Extending the Salsa20
// nonce" (Bernstein) and RFC 8439, section 2.5 (Poly1305).

const tagBytes = 16
const blockBytes = 64
/** "expand 32-byte k" as little-endian words. */
const sigma = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const
const prime = (1n << 130n) - 5n
const clamp = 0x0ffffffc0ffffffc0ffffffc0fffffffn
const mask128 = (1n << 128n) - 1n

/** Encrypts and authenticates a message: the tag, then as many bytes as the message has. The nonce has 24 bytes, the key 32. */
export function sealSecretbox(message: Uint8Array, nonce: Uint8Array, key: Uint8Array): Buffer {
  const { authKey, text } = cipher(message, nonce, key)
  return Buffer.concat([poly1305(text, authKey), text])
}

/** Decrypts the result of {@link sealSecretbox}. Undefined if key, nonce or any byte differ. */
export function openSecretbox(box: Uint8Array, nonce: Uint8Array, key: Uint8Array): Buffer | undefined {
  if (box.length < tagBytes) return undefined
  const sealed = box.subarray(tagBytes)
  const { authKey, text } = cipher(sealed, nonce, key)
  return timingSafeEqual(poly1305(sealed, authKey), box.subarray(0, tagBytes)) ? text : undefined
}

/** The message XOR the key stream after its first 32 bytes, which are the key of the tag. */
function cipher(message: Uint8Array, nonce: Uint8Array, key: Uint8Array): { authKey: Buffer; text: Buffer } {
  const keyWords = words(key)
  const nonceWords = words(nonce)
  // HSalsa20 derives a key from the first 16 bytes of the nonce.
  const derived = rounds(state(keyWords, nonceWords.slice(0, 4)))
  const subkey = [0, 5, 10, 15, 6, 7, 8, 9].map((index) => derived[index]!)
  const text = Buffer.allocUnsafe(message.length)
  const authKey = Buffer.alloc(32)
  const block = Buffer.alloc(blockBytes)
  const [high, low] = [nonceWords[4]!, nonceWords[5]!]
  for (let counter = 0, at = -32; at < message.length; counter++, at += blockBytes) {
    const input = state(subkey, [high, low, counter, 0])
    const mixed = rounds(input)
    for (let i = 0; i < 16; i++) block.writeInt32LE((mixed[i]! + input[i]!) | 0, 4 * i)
    if (at < 0) block.copy(authKey, 0, 0, 32)
    const end = Math.min(blockBytes, message.length - at)
    for (let i = at < 0 ? 32 : 0; i < end; i++) text[at + i] = message[at + i]! ^ block[i]!
  }
  return { authKey, text }
}

function words(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: bytes.length / 4 }, (_, i) => view.getInt32(4 * i, true))
}

/** The 16 words of Salsa20's input: constants on the diagonal, the key around them, nonce and counter in the middle. */
function state(key: readonly number[], input: readonly number[]): Int32Array {
  return Int32Array.of(
    sigma[0],
    ...key.slice(0, 4),
    sigma[1],
    ...input.slice(0, 4),
    sigma[2],
    ...key.slice(4, 8),
    sigma[3],
  )
}

/** The indexes of each quarter round: of the columns, then of the rows. */
const quarters = [
  [0, 4, 8, 12],
  [5, 9, 13, 1],
  [10, 14, 2, 6],
  [15, 3, 7, 11],
  [0, 1, 2, 3],
  [5, 6, 7, 4],
  [10, 11, 8, 9],
  [15, 12, 13, 14],
] as const

/** The 20 rounds of Salsa20, without the final addition of the input. */
function rounds(input: Int32Array): Int32Array {
  const x = Int32Array.from(input)
  for (let round = 0; round < 10; round++) {
    for (const [a, b, c, d] of quarters) {
      x[b] = x[b]! ^ rotate(x[a]! + x[d]!, 7)
      x[c] = x[c]! ^ rotate(x[b]! + x[a]!, 9)
      x[d] = x[d]! ^ rotate(x[c]! + x[b]!, 13)
      x[a] = x[a]! ^ rotate(x[d]! + x[c]!, 18)
    }
  }
  return x
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits))
}

function poly1305(message: Uint8Array, key: Uint8Array): Buffer {
  const r = littleEndian(key.subarray(0, 16)) & clamp
  const s = littleEndian(key.subarray(16, 32))
  let sum = 0n
  for (let at = 0; at < message.length; at += 16) {
    const block = message.subarray(at, at + 16)
    sum = ((sum + littleEndian(block) + (1n << BigInt(8 * block.length))) * r) % prime
  }
  const tag = Buffer.alloc(tagBytes)
  const value = (sum + s) & mask128
  tag.writeBigUInt64LE(value & 0xffffffffffffffffn, 0)
  tag.writeBigUInt64LE(value >> 64n, 8)
  return tag
}

function littleEndian(bytes: Uint8Array): bigint {
  let value = 0n
  for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i]!)
  return value
}
