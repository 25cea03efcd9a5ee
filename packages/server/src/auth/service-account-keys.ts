import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import { parseJwt } from './jwt/json-web-token.ts'

/** A key that signs or verifies tokens. */
interface TokenKey {
  readonly id: string
  readonly algorithm: 'RS256' | 'ES256'
  readonly publicKey: KeyObject
  readonly privateKey?: KeyObject | undefined
}

/** The claims of a token with a valid signature. The claims themselves are not validated. */
export interface SignedClaims {
  readonly claims: Readonly<Record<string, unknown>>
}

/** How many verified tokens are cached. */
const rememberedTokens = 2000

/**
 * The keys of service account tokens. One key signs and all keys verify, so that a signing key can be replaced while its tokens
 * stay valid. Supports RSA and ECDSA P-256 keys. Signing and verifying do not wait: a result of another thread would arrive at a real time,
 * of which the virtual time of simulations knows nothing.
 */
export class ServiceAccountKeys {
  readonly #load: () => readonly TokenKey[]
  #loaded: readonly TokenKey[] | undefined
  /** Tokens whose signature is valid, oldest first. A signature stays valid, so each token is verified once. */
  readonly #verified = new Map<string, SignedClaims>()

  /** PEM keys; the first one signs. Keys that only verify may be public keys. A function is called when a key is needed for the first time. */
  constructor(pems: readonly string[] | (() => readonly string[])) {
    this.#load = () => tokenKeys(typeof pems === 'function' ? pems() : pems)
    if (typeof pems !== 'function') this.#loaded = this.#load()
  }

  get #keys(): readonly TokenKey[] {
    return (this.#loaded ??= this.#load())
  }

  /** Generates a signing key as PEM. */
  static generate(): string {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  }

  /** Creates a JWT with these claims. */
  sign(claims: Readonly<Record<string, unknown>>): string {
    const { id, algorithm, privateKey } = this.#keys[0]!
    const [header, payload] = [{ alg: algorithm, kid: id }, claims].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    )
    const signed = `${header}.${payload}`
    const signature = sign('sha256', Buffer.from(signed), { key: privateKey!, dsaEncoding: 'ieee-p1363' })
    return `${signed}.${signature.toString('base64url')}`
  }

  /** The claims of a JWT, an error message when none of the keys signed it, or undefined when the text is not a JWT. */
  verify(token: string): SignedClaims | string | undefined {
    const known = this.#verified.get(token)
    if (known) return known
    const parsed = parseJwt(token)
    if (!parsed || parsed.signature.length === 0) return undefined
    const { kid = '', alg } = parsed.header
    const candidates = kid === '' ? this.#keys : this.#keys.filter(({ id }) => id === kid)
    if (candidates.length === 0) return 'invalid signature, no keys found'
    for (const { publicKey, algorithm } of candidates) {
      const key = { key: publicKey, dsaEncoding: 'ieee-p1363' } as const
      if (alg !== algorithm || !verify('sha256', Buffer.from(parsed.signed), key, parsed.signature)) continue
      const result = { claims: parsed.claims }
      if (this.#verified.size >= rememberedTokens) this.#verified.delete(this.#verified.keys().next().value!)
      this.#verified.set(token, result)
      return result
    }
    return 'go-jose/go-jose: error in cryptographic primitive'
  }

  /** The public keys as a JSON Web Key Set. */
  jwks(): { readonly keys: readonly Readonly<Record<string, unknown>>[] } {
    return {
      keys: this.#keys.map(({ id, algorithm, publicKey }) => {
        const { kty, ...rest } = publicKey.export({ format: 'jwk' })
        return { use: 'sig', kty, kid: id, alg: algorithm, ...rest }
      }),
    }
  }

  /** The signature algorithms of the keys, sorted. */
  algorithms(): string[] {
    return [...new Set(this.#keys.map(({ algorithm }) => algorithm))].sort()
  }
}

function tokenKeys(pems: readonly string[]): readonly TokenKey[] {
  const keys = pems.map(cachedTokenKey)
  if (keys[0]?.privateKey === undefined)
    throw new TypeError('Cannot sign service account tokens: the first key must be a private key')
  return keys
}

/** Parsed keys by PEM. Programs that start many servers give them the same key, and parsing one takes a millisecond. */
const parsedKeys = new Map<string, TokenKey>()
const maxParsedKeys = 16

function cachedTokenKey(pem: string): TokenKey {
  const known = parsedKeys.get(pem)
  if (known) return known
  const key = tokenKey(pem)
  if (parsedKeys.size >= maxParsedKeys) parsedKeys.delete(parsedKeys.keys().next().value!)
  parsedKeys.set(pem, key)
  return key
}

function tokenKey(pem: string): TokenKey {
  const privateKey = pem.includes('PRIVATE KEY') ? createPrivateKey(pem) : undefined
  const publicKey = createPublicKey(pem)
  const { asymmetricKeyType, asymmetricKeyDetails } = publicKey
  const p256 = asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1'
  if (asymmetricKeyType !== 'rsa' && !p256)
    throw new TypeError('Unsupported service account key: use an RSA or ECDSA P-256 key')
  const id = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { id, algorithm: p256 ? 'ES256' : 'RS256', publicKey, ...(privateKey ? { privateKey } : {}) }
}
