import { CertificateAuthority, type KeyedCertificate } from '@kubewright/base/pki'
import type { UserInfo } from '../request/user-info.ts'

/** The client certificate with which this server authenticates to extension servers as the front proxy. */
export interface FrontProxyIdentity {
  /** PEM of the CA that extension servers trust for front proxies only. */
  readonly ca: string
  readonly client: KeyedCertificate
}

/** The common name of the front proxy's certificate. */
export const frontProxyName = 'front-proxy-client'

/** Creates a CA for front proxies only. Extension servers that trust it accept no other certificate of the cluster. */
export function createFrontProxyCa(now: number): KeyedCertificate {
  return CertificateAuthority.create({ commonName: 'kubewright-front-proxy-ca', now })
}

/** Creates the identity of a front proxy. @param authority @default a new CA */
export function createFrontProxyIdentity(
  now: number,
  authority: KeyedCertificate = createFrontProxyCa(now),
): FrontProxyIdentity {
  const client = new CertificateAuthority(authority).issueClient({ commonName: frontProxyName, organizations: [], now })
  return { ca: authority.cert, client }
}

/**
 * The part of the ConfigMap kube-system/extension-apiserver-authentication with the CA, names and headers of the front proxy, which
 * extension servers read.
 */
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

/** The headers that identify the user to an extension server. */
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

/** Encodes a value as UTF-8: Node writes each character of a header as one byte. */
function headerText(value: string): string {
  return Buffer.from(value).toString('latin1')
}

/** Percent-encodes characters that are invalid in header names, and the percent sign. */
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
