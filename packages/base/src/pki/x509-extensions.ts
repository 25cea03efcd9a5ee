import { IPAddress } from '../syntax/ip.ts'
import { der, derOid, derSequence, derTag } from './der.ts'
import { crypto } from './node-crypto.ts'

/** An extended key usage: the TLS role a certificate may be used for. */
export type ExtendedKeyUsage = 'serverAuth' | 'clientAuth'

const extendedKeyUsageOids: Readonly<Record<ExtendedKeyUsage, string>> = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
}
/** Bits of the KeyUsage octet; bit 0 is the most significant one. */
const keyUsageBits = { digitalSignature: 0x80, keyEncipherment: 0x20, keyCertSign: 0x04, crlSign: 0x02 } as const

function extension(oid: string, critical: boolean, value: Uint8Array): Buffer {
  const flag = critical ? [der(derTag.boolean, Buffer.from([0xff]))] : []
  return derSequence(derOid(oid), ...flag, der(derTag.octetString, value))
}

/** The extension that states whether the certificate belongs to a CA. */
export function basicConstraints(ca: boolean): Buffer {
  return extension('2.5.29.19', true, derSequence(...(ca ? [der(derTag.boolean, Buffer.from([0xff]))] : [])))
}

/** The extension that lists the permitted operations of the key. */
export function keyUsage(...usages: readonly (keyof typeof keyUsageBits)[]): Buffer {
  const bits = usages.reduce((sum, usage) => sum | keyUsageBits[usage], 0)
  // DER omits trailing zero bits and states how many bits of the last octet are unused.
  const unused = 31 - Math.clz32(bits & -bits)
  return extension('2.5.29.15', true, der(derTag.bitString, Buffer.from([unused, bits])))
}

/** The extension that lists the TLS roles of the certificate. */
export function extendedKeyUsage(usages: readonly ExtendedKeyUsage[]): Buffer {
  return extension('2.5.29.37', false, derSequence(...usages.map((usage) => derOid(extendedKeyUsageOids[usage]))))
}

/**
 * The extension that lists the DNS names and IP addresses of a server. Hosts that parse as an IP address become IP
 * addresses.
 */
export function subjectAlternativeNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) => {
    const address = addressBytes(host)
    return address ? der(0x87, address) : der(0x82, Buffer.from(host, 'latin1'))
  })
  return extension('2.5.29.17', false, derSequence(...names))
}

/** Returns the identifier of a key: the SHA-1 digest of its bits, as RFC 5280 suggests. Not security-relevant. */
export function keyIdentifier(publicKeyBits: Uint8Array): Buffer {
  return crypto().createHash('sha1').update(publicKeyBits).digest()
}

/** The extension that identifies the key of the certificate. */
export function subjectKeyIdentifier(id: Uint8Array): Buffer {
  return extension('2.5.29.14', false, der(derTag.octetString, id))
}

/** The extension that identifies the key of the issuer. */
export function authorityKeyIdentifier(id: Uint8Array): Buffer {
  return extension('2.5.29.35', false, derSequence(der(0x80, id)))
}

function addressBytes(host: string): Uint8Array | undefined {
  try {
    return IPAddress.parse(host).bytes
  } catch {
    return undefined
  }
}
