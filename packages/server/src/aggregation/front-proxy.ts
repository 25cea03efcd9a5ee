import { CertificateAuthority, type KeyedCertificate } from '@kubewright/base/pki'
import type { UserInfo } from '../request/user-info.ts'

/** How this server proves to extension servers that it is the one that speaks for users. */
export interface FrontProxyIdentity {
  /** PEM of the authority that extension servers have to trust for that, and for nothing else. */
  readonly ca: string
  readonly client: KeyedCertificate
}

/** The name in the certificate of the proxy. */
export const frontProxyName = 'front-proxy-client'

/** An authority for nothing but front proxies: whoever trusts it trusts no other certificate of the cluster. */
export function createFrontProxyCa(now: number): KeyedCertificate {
  return CertificateAuthority.create({ commonName: 'kubewright-front-proxy-ca', now })
}

/** Makes an identity that an authority vouches for. @param authority a new one by default */
export function createFrontProxyIdentity(
  now: number,
  authority: KeyedCertificate = createFrontProxyCa(now),
): FrontProxyIdentity {
  const client = new CertificateAuthority(authority).issueClient({ commonName: frontProxyName, organizations: [], now })
  return { ca: authority.cert, client }
}

/** The part of kube-system/extension-apiserver-authentication that tells extension servers whom to believe, and what to read. */
export function requestHeaderConfig({ ca }: FrontProxyIdentity): Record<string, string> {
  return {
    'requestheader-allowed-names': JSON.stringify([frontProxyName]),
    'requestheader-client-ca-file': ca,
    'requestheader-extra-headers-prefix': JSON.stringify(['X-Remote-Extra-']),
    'requestheader-group-headers': JSON.stringify(['X-Remote-Group']),
    'requestheader-uid-headers': JSON.stringify(['X-Remote-Uid']),
    'requestheader-username-headers': JSON.stringify(['X-Remote-User']),
  }
}

/** The headers that say who a request is from. */
export function remoteUserHeaders({ name, uid, groups, extra }: UserInfo): Record<string, string | readonly string[]> {
  const headers: Record<string, string | readonly string[]> = {
    'x-remote-user': headerText(name),
    'x-remote-group': groups.map(headerText),
  }
  if (uid !== undefined && uid !== '') headers['x-remote-uid'] = headerText(uid)
  for (const [key, values] of Object.entries(extra ?? {})) {
    headers[`x-remote-extra-${escapedKey(key)}`] = values.map(headerText)
  }
  return headers
}

/** Node takes each character of a header for a byte; on the wire names are UTF-8. */
function headerText(value: string): string {
  return Buffer.from(value).toString('latin1')
}

/** Characters that a header's name cannot have are percent-encoded, and so is the percent sign. */
function escapedKey(key: string): string {
  return [...Buffer.from(key)]
    .map((byte) => {
      const character = String.fromCharCode(byte)
      return /[!#$&'*+\-.^_`|~0-9A-Za-z]/.test(character)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
    })
    .join('')
}
