import {
  constants,
  type KeyObject,
  type SignKeyObjectInput,
  sign,
  type VerifyKeyObjectInput,
  verify,
} from 'node:crypto'

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>

/** A JSON Web Token in compact form whose signature has not been verified. */
export interface JsonWebToken {
  readonly header: JsonObject
  readonly claims: JsonObject
  /** The part of the text that is signed. */
  readonly signed: string
  readonly signature: Uint8Array
}

type CryptoOptions = SignKeyObjectInput & VerifyKeyObjectInput

interface Algorithm {
  readonly hash: string
  readonly key: 'rsa' | 'ec'
  /** The curve of EC keys, by the name of OpenSSL. */
  readonly curve?: string
  readonly isPss?: true
}

/** The signature algorithms that tokens may have (RFC 7518): asymmetric ones only. */
export type SigningAlgorithm = 'ES256' | 'ES384' | 'ES512' | 'PS256' | 'PS384' | 'PS512' | 'RS256' | 'RS384' | 'RS512'

const algorithms: Readonly<Record<SigningAlgorithm, Algorithm>> = {
  ES256: { hash: 'sha256', key: 'ec', curve: 'prime256v1' },
  ES384: { hash: 'sha384', key: 'ec', curve: 'secp384r1' },
  ES512: { hash: 'sha512', key: 'ec', curve: 'secp521r1' },
  PS256: { hash: 'sha256', key: 'rsa', isPss: true },
  PS384: { hash: 'sha384', key: 'rsa', isPss: true },
  PS512: { hash: 'sha512', key: 'rsa', isPss: true },
  RS256: { hash: 'sha256', key: 'rsa' },
  RS384: { hash: 'sha384', key: 'rsa' },
  RS512: { hash: 'sha512', key: 'rsa' },
}

/** All signature algorithms, sorted. */
export const signingAlgorithms: readonly SigningAlgorithm[] = Object.keys(algorithms) as SigningAlgorithm[]

/**
 * Parses a token, or returns undefined if the text is not a JWT. Accepts only one spelling of every token. The signature may be empty, as
 * in unsigned tokens, which no verifier accepts.
 */
export function parseJwt(token: string): JsonWebToken | undefined {
  const parts = token.split('.')
  if (parts.length !== 3) return undefined
  const header = decode(parts[0]!)
  const claims = decode(parts[1]!)
  if (!header || !claims || (parts[2] !== '' && !isBase64Url(parts[2]!))) return undefined
  return {
    header,
    claims,
    signed: token.slice(0, token.lastIndexOf('.')),
    signature: Buffer.from(parts[2]!, 'base64url'),
  }
}

/** Creates a token. The algorithm must fit the key. */
export function signJwt(
  claims: JsonObject,
  { algorithm, id, key }: { readonly algorithm: SigningAlgorithm; readonly id?: string; readonly key: KeyObject },
): string {
  const header = { alg: algorithm, ...(id === undefined ? {} : { kid: id }) }
  const signed = `${encode(header)}.${encode(claims)}`
  const options = cryptoOptions(algorithm, key, constants.RSA_PSS_SALTLEN_DIGEST)
  return `${signed}.${sign(algorithms[algorithm].hash, Buffer.from(signed), options).toString('base64url')}`
}

/** Whether the key made the signature by the algorithm. False if the algorithm does not fit the key. */
export function hasSignatureOf(
  { signed, signature }: JsonWebToken,
  algorithm: SigningAlgorithm,
  key: KeyObject,
): boolean {
  const { hash, key: type, curve } = algorithms[algorithm]
  if (key.asymmetricKeyType !== type) return false
  if (curve !== undefined && key.asymmetricKeyDetails?.namedCurve !== curve) return false
  return verify(hash, Buffer.from(signed), cryptoOptions(algorithm, key, constants.RSA_PSS_SALTLEN_AUTO), signature)
}

/** The salt of PSS signatures is as long as the hash; a verifier accepts any length, as go-jose does. */
function cryptoOptions(algorithm: SigningAlgorithm, key: KeyObject, saltLength: number): CryptoOptions {
  const { isPss } = algorithms[algorithm]
  return isPss ? { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength } : { key, dsaEncoding: 'ieee-p1363' }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
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
 * Whether a text is base64url without padding, in its only form: no unused bits are set in the last character. Buffer.from ignores padding
 * and characters outside the alphabet.
 */
function isBase64Url(text: string): boolean {
  return text.length > 0 && Buffer.from(text, 'base64url').toString('base64url') === text
}
