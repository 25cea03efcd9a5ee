import { createHash, timingSafeEqual } from 'node:crypto'
import type { Random } from '@kubewright/base'

const tokenBytes = 24

/**
 * Decides who may use the console. A link contains a token that can be exchanged once for a cookie. Tokens and cookies
 * are random; only their hashes are kept.
 */
export class PageSession {
  readonly #random: Random
  readonly #tokens = new Set<string>()
  readonly #cookies = new Set<string>()
  readonly #cookieName: string

  constructor(random: Random) {
    this.#random = random
    // Browsers send cookies to all ports of a host: consoles on one machine need different names.
    this.#cookieName = `kubewright-${this.#secret().slice(0, 8)}`
  }

  /** Issues a token that can be exchanged once. */
  issueToken(): string {
    const token = this.#secret()
    this.#tokens.add(hash(token))
    return token
  }

  /** Exchanges a token for the value of a Set-Cookie header; undefined for a token that is wrong or was used. */
  exchange(token: string, path: string): string | undefined {
    const known = find(this.#tokens, token)
    if (known === undefined) return undefined
    this.#tokens.delete(known)
    const cookie = this.#secret()
    this.#cookies.add(hash(cookie))
    return `${this.#cookieName}=${cookie}; Path=${path}; HttpOnly; SameSite=Strict`
  }

  /** Whether a Cookie header contains a cookie that {@link exchange} returned. */
  accepts(header: string | undefined): boolean {
    for (const part of (header ?? '').split(';')) {
      const [name, value = ''] = part.trim().split('=', 2)
      if (name === this.#cookieName && find(this.#cookies, value) !== undefined) return true
    }
    return false
  }

  #secret(): string {
    return Buffer.from(this.#random.bytes(tokenBytes)).toString('hex')
  }
}

const hash = (secret: string): string => createHash('sha256').update(secret).digest('hex')

/** Compares with every known hash in constant time. */
function find(hashes: ReadonlySet<string>, secret: string): string | undefined {
  const wanted = Buffer.from(hash(secret))
  let found: string | undefined
  for (const known of hashes) if (timingSafeEqual(Buffer.from(known), wanted)) found = known
  return found
}
