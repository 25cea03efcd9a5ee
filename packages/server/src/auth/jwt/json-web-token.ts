/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>

/** A JSON Web Token in compact form whose signature has not been verified. */
export interface JsonWebToken {
  readonly header: JsonObject
  readonly claims: JsonObject
  /** The complete text, and the part of it that is signed. */
  readonly text: string
  readonly signed: string
  readonly signature: Uint8Array
}

/** The signature algorithms that tokens may have (RFC 7518): asymmetric ones only. */
export type SigningAlgorithm = 'ES256' | 'ES384' | 'ES512' | 'PS256' | 'PS384' | 'PS512' | 'RS256' | 'RS384' | 'RS512'

const digestSizes = [256, 384, 512] as const

/** All signature algorithms, sorted. */
export const signingAlgorithms: readonly SigningAlgorithm[] = (['ES', 'PS', 'RS'] as const).flatMap((type) =>
  digestSizes.map((size) => `${type}${size}` as const),
)

/**
 * Parses a token, or returns undefined if the text is not a JWT. Accepts only one spelling of every token. The signature may be empty, as
 * in unsigned tokens, which no verifier accepts.
 */
export function parseJwt(text: string): JsonWebToken | undefined {
  const parts = text.split('.')
  if (parts.length !== 3) return undefined
  const header = decode(parts[0]!)
  const claims = decode(parts[1]!)
  if (!header || !claims || (parts[2] !== '' && !isBase64Url(parts[2]!))) return undefined
  const signed = text.slice(0, text.lastIndexOf('.'))
  return { header, claims, text, signed, signature: Buffer.from(parts[2]!, 'base64url') }
}

function decode(part: string): JsonObject | undefined {
  if (!isBase64Url(part)) return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}

/**
 * Whether a text is base64url without padding, in its only form: no unused bits are set in the last character. Decoders ignore padding, spaces
 * and characters outside the alphabet.
 */
function isBase64Url(text: string): boolean {
  return text.length > 0 && Buffer.from(text, 'base64url').toString('base64url') === text
}
