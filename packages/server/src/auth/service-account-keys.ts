import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'

/** A key that signs tokens, with what a verifier needs to know about it. */
interface TokenKey {
  readonly id: string
  readonly algorithm: 'RS256' | 'ES256'
  readonly publicKey: KeyObject
  readonly privateKey?: KeyObject
}

/** A token that was signed by one of the keys; what it claims has not been looked at. */
export interface SignedClaims {
  readonly claims: Readonly<Record<string, unknown>>
}

/** How many tokens are remembered as well signed. */
const rememberedTokens = 2000

/**
 * The keys of service account tokens: one signs, all verify, so that a key can be replaced without cutting off its tokens. Takes RSA
 * keys and P-256 keys.
 */
export class ServiceAccountKeys {
  readonly #keys: readonly TokenKey[]
  /** A signature does not go bad, so it is checked once for each token; oldest first. */
  readonly #verified = new Map<string, SignedClaims>()

  /** PEM keys, the one that signs first. Those that only verify may be public keys. */
  constructor(pems: readonly string[]) {
    this.#keys = pems.map(tokenKey)
    if (!this.#keys[0]?.privateKey)
      throw new TypeError('The first service account key must be a private key: it signs tokens')
  }

  /** A new signing key, as PEM. */
  static generate(): string {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
  }

  /** A JWT with these claims. */
  sign(claims: Readonly<Record<string, unknown>>): string {
    const { id, algorithm, privateKey } = this.#keys[0]!
    const head = `${encode({ alg: algorithm, kid: id })}.${encode(claims)}`
    const signature = sign('sha256', Buffer.from(head), { key: privateKey!, dsaEncoding: 'ieee-p1363' })
    return `${head}.${signature.toString('base64url')}`
  }

  /** The claims of a JWT; a text when it is not signed by one of the keys, undefined when it is none. */
  verify(token: string): SignedClaims | string | undefined {
    const known = this.#verified.get(token)
    if (known) return known
    const parts = token.split('.')
    const header = decode(parts[0])
    const claims = decode(parts[1])
    if (parts.length !== 3 || !header || !claims) return undefined
    const { kid = '', alg } = header
    const candidates = kid === '' ? this.#keys : this.#keys.filter(({ id }) => id === kid)
    if (candidates.length === 0) return 'invalid signature, no keys found'
    const signed = Buffer.from(token.slice(0, token.lastIndexOf('.')))
    const signature = Buffer.from(parts[2]!, 'base64url')
    for (const { publicKey, algorithm } of candidates) {
      if (alg !== algorithm) continue
      if (!verify('sha256', signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, signature)) continue
      const result = { claims }
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

  /** The algorithms of the keys, sorted. */
  algorithms(): string[] {
    return [...new Set(this.#keys.map(({ algorithm }) => algorithm))].sort()
  }
}

function tokenKey(pem: string): TokenKey {
  const privateKey = pem.includes('PRIVATE KEY') ? createPrivateKey(pem) : undefined
  const publicKey = createPublicKey(pem)
  const { asymmetricKeyType, asymmetricKeyDetails } = publicKey
  const p256 = asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1'
  if (asymmetricKeyType !== 'rsa' && !p256) throw new TypeError('Service account keys must be RSA or ECDSA P-256 keys')
  const id = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
  return { id, algorithm: p256 ? 'ES256' : 'RS256', publicKey, ...(privateKey ? { privateKey } : {}) }
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}

function decode(part: string | undefined): Record<string, unknown> | undefined {
  if (!part || !/^[A-Za-z0-9_-]+$/.test(part)) return undefined
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
