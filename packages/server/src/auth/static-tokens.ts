import { createHash, timingSafeEqual } from 'node:crypto'
import type { UserInfo } from '../request/user-info.ts'
import type { TokenAuthenticator } from './authenticator.ts'

/** A bearer token that never expires. */
export interface StaticToken {
  readonly token: string
  readonly user: UserInfo
}

/**
 * Authenticates a fixed list of tokens for the server's own audiences. Compares in constant time, so that response times reveal
 * nothing about the tokens.
 */
export function staticTokens(tokens: readonly StaticToken[], own: readonly string[]): TokenAuthenticator {
  const known = tokens.map(({ token, user }) => ({ digest: digestOf(token), user }))
  return async (token, audiences) => {
    const common = own.filter((audience) => audiences.includes(audience))
    if (common.length === 0) return undefined
    const digest = digestOf(token)
    let found: UserInfo | undefined
    for (const entry of known) if (timingSafeEqual(entry.digest, digest)) found = entry.user
    return found && { user: found, audiences: common }
  }
}

function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
