import type { ApiRequest } from '@kubewright/api'
import { KubewrightError } from '@kubewright/base'
import { type Authenticator, asAuthenticated } from './authenticator.ts'

/** The front proxy that an extension server trusts. */
export interface RequestHeaderOptions {
  /** Common names of the proxy's certificates. The listener must trust the CA that signed them. */
  readonly allowedNames: readonly string[]
  /** @default X-Remote-User */
  readonly usernameHeaders?: readonly string[] | undefined
  /** @default X-Remote-Uid */
  readonly uidHeaders?: readonly string[] | undefined
  /** @default X-Remote-Group */
  readonly groupHeaders?: readonly string[] | undefined
  /** @default X-Remote-Extra- */
  readonly extraHeaderPrefixes?: readonly string[] | undefined
}

/**
 * Authenticates users by the headers of a front proxy. The proxy has authenticated the user and identifies itself by a client
 * certificate with one of the allowed names (apiserver/pkg/authentication/request/headerrequest). Must come before client
 * certificates in the list of authenticators, or every user would be the proxy.
 */
export function requestHeaders(options: RequestHeaderOptions): Authenticator {
  const {
    allowedNames,
    usernameHeaders = ['X-Remote-User'],
    uidHeaders = ['X-Remote-Uid'],
    groupHeaders = ['X-Remote-Group'],
    extraHeaderPrefixes = ['X-Remote-Extra-'],
  } = options
  // An empty list would let every client with a certificate impersonate any user.
  if (allowedNames.length === 0)
    throw new KubewrightError(
      'KW_SERVER_CONFIG',
      'Cannot trust request headers: allowedNames must list the common names of the front proxy',
    )
  return (request) => {
    const proxy = request.peer.certificate
    if (!proxy || !allowedNames.includes(proxy.commonName)) return undefined
    const headers = headerValues(request)
    const first = (names: readonly string[]): string =>
      names.map((name) => headers.get(name.toLowerCase())?.[0] ?? '').find((value) => value !== '') ?? ''
    const name = first(usernameHeaders)
    if (name === '') return undefined
    const uid = first(uidHeaders)
    const groups = groupHeaders.flatMap((header) => headers.get(header.toLowerCase()) ?? []).filter((group) => group)
    const extra = extraOf(headers, extraHeaderPrefixes)
    return asAuthenticated({
      name,
      groups,
      ...(uid === '' ? {} : { uid }),
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
    })
  }
}

/** The values of all headers by lower-case name. */
function headerValues({ headers, rawHeaders }: ApiRequest): Map<string, string[]> {
  const found = new Map<string, string[]>()
  const add = (name: string, given: string): void => {
    const values = found.get(name)
    // Node decodes headers as Latin-1, but names are UTF-8.
    const value = Buffer.from(given, 'latin1').toString()
    if (values) values.push(value)
    else found.set(name, [value])
  }
  if (rawHeaders) {
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) add(rawHeaders[i]!.toLowerCase(), rawHeaders[i + 1]!)
  } else for (const [name, value] of Object.entries(headers)) if (value !== undefined) add(name, value)
  return found
}

function extraOf(headers: ReadonlyMap<string, string[]>, prefixes: readonly string[]): Record<string, string[]> {
  const extra = new Map<string, string[]>()
  for (const prefix of prefixes.map((text) => text.toLowerCase())) {
    for (const [name, values] of headers) {
      if (!name.startsWith(prefix)) continue
      const key = decodedKey(name.slice(prefix.length))
      extra.set(key, [...(extra.get(key) ?? []), ...values])
    }
  }
  return Object.fromEntries(extra)
}

/** Decodes percent-encoded keys. Keys with invalid encoding are used as they are. */
export function decodedKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
