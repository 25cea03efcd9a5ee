/** What a client shows to prove who it is, besides a certificate. */
export interface Credentials {
  /** Headers of the next request. Called for each one: what is expensive is kept by the implementation. */
  headers(signal?: AbortSignal): Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>
  /** The server did not accept them. True when the next call of {@link headers} may give better ones. */
  renew(): boolean
}

/** A bearer token that does not change. */
export function bearerToken(token: string): Credentials {
  const headers = { authorization: `Bearer ${token}` }
  return { headers: () => headers, renew: () => false }
}

/** A user and a password, for servers behind something that wants them. */
export function basicAuth(username: string, password: string): Credentials {
  const headers = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
  return { headers: () => headers, renew: () => false }
}

/** Whom to act as, for those who may impersonate others. */
export interface Impersonation {
  readonly user: string
  readonly uid?: string | undefined
  readonly groups?: readonly string[] | undefined
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined
}

/** The headers that ask the server to act as somebody else. */
export function impersonationHeaders(who: Impersonation): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = { 'impersonate-user': who.user }
  if (who.uid) headers['impersonate-uid'] = who.uid
  if (who.groups && who.groups.length > 0) headers['impersonate-group'] = who.groups
  for (const [key, values] of Object.entries(who.extra ?? {})) {
    headers[`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`] = values
  }
  return headers
}
