import { constants, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { JsonObject, SigningAlgorithm } from '../auth/jwt/json-web-token.ts'
import { type Outgoing, OutgoingError } from '../outgoing/outgoing.ts'

/** An OpenID Connect issuer for tests, without a socket: its `outgoing` answers the requests of the server. */
export class FakeIssuer {
  readonly url: string
  /** The requested paths, in order. */
  readonly requests: string[] = []
  isReachable = true
  /** The header `cache-control` of the key set. */
  cacheControl = ''
  /** Documents besides discovery and keys, by path. */
  readonly documents = new Map<string, string>()
  #keys: { readonly id: string; readonly publicKey: KeyObject; readonly privateKey: KeyObject }[] = []

  constructor(url = 'https://issuer.example.com') {
    this.url = url
    this.addKey('first')
  }

  /** Adds a signing key, P-256 unless `curve` names another one. */
  addKey(id: string, curve = 'P-256'): void {
    this.#keys.push({ id, ...generateKeyPairSync('ec', { namedCurve: curve }) })
  }

  addRsaKey(id: string): void {
    this.#keys.push({ id, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) })
  }

  removeKey(id: string): void {
    this.#keys = this.#keys.filter((key) => key.id !== id)
  }

  /** A token that the key signs. */
  token(claims: JsonObject, id = 'first', algorithm: SigningAlgorithm = 'ES256', header: JsonObject = {}): string {
    const { privateKey: key } = this.#keys.find((known) => known.id === id)!
    const parts = [
      { alg: algorithm, kid: id, ...header },
      { iss: this.url, ...claims },
    ]
    const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
    const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    const options = algorithm.startsWith('PS') ? { key, ...pss } : { key, dsaEncoding: 'ieee-p1363' as const }
    return `${signed}.${sign(`sha${algorithm.slice(2)}`, Buffer.from(signed), options).toString('base64url')}`
  }

  readonly outgoing: Outgoing = async ({ url }) => {
    this.requests.push(url.pathname)
    if (!this.isReachable) throw new OutgoingError(`dial tcp ${url.host}: connect: connection refused`)
    const document = this.#document(url.pathname)
    const headers = {
      'content-type': ['application/json'],
      ...(this.cacheControl === '' ? {} : { 'cache-control': [this.cacheControl] }),
    }
    return {
      status: document === undefined ? 404 : 200,
      headers,
      body: (async function* () {
        yield Buffer.from(document ?? 'not found')
      })(),
    }
  }

  #document(path: string): string | undefined {
    if (path === '/keys') {
      return JSON.stringify({
        keys: this.#keys.map(({ id, publicKey }) => ({ ...publicKey.export({ format: 'jwk' }), kid: id })),
      })
    }
    if (path.endsWith('/.well-known/openid-configuration')) {
      return JSON.stringify({ issuer: this.url, jwks_uri: `${this.url}/keys` })
    }
    return this.documents.get(path)
  }
}
