/** Authenticates the requests of a client, in addition to a client certificate. */
export interface Credentials {
  /** The headers of the next request. Called for each request; implementations cache what is expensive. */
  headers(signal?: AbortSignal): Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>
  /**
   * Called when the server rejected the credentials. Returns true when the next call of {@link headers} may give valid
   * ones.
   */
  renew(): boolean
}

/** A constant bearer token. */
export function bearerToken(token: string): Credentials {
  const headers = { authorization: `Bearer ${token}` }
  return { headers: () => headers, renew: () => false }
}

/** A user name and a password, for servers behind a proxy that requires them. */
export function basicAuth(username: string, password: string): Credentials {
  const headers = { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
  return { headers: () => headers, renew: () => false }
}

/** The identity to impersonate. Requires the permission to impersonate. */
export interface Impersonation {
  readonly user: string
  readonly uid?: string | undefined
  readonly groups?: readonly string[] | undefined
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined
}

/** The headers that make the server act as another user. */
export function impersonationHeaders(who: Impersonation): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = { 'impersonate-user': who.user }
  if (who.uid) headers['impersonate-uid'] = who.uid
  if (who.groups && who.groups.length > 0) headers['impersonate-group'] = who.groups
  for (const [key, values] of Object.entries(who.extra ?? {})) {
    headers[`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`] = values
  }
  return headers
}
