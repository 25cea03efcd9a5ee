import { createHash } from 'node:crypto'
import { IPAddress } from '../syntax/ip.ts'
import { der, derOid, derSequence, derTag } from './der.ts'

/** What a certificate may be used for. */
export type ExtendedKeyUsage = 'serverAuth' | 'clientAuth'

const extendedKeyUsageOids: Readonly<Record<ExtendedKeyUsage, string>> = {
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
}
/** Bits of KeyUsage, counted from the most significant one. */
const keyUsageBits = { digitalSignature: 0x80, keyEncipherment: 0x20, keyCertSign: 0x04, crlSign: 0x02 } as const

function extension(oid: string, critical: boolean, value: Uint8Array): Buffer {
  const flag = critical ? [der(derTag.boolean, Buffer.from([0xff]))] : []
  return derSequence(derOid(oid), ...flag, der(derTag.octetString, value))
}

/** Says whether the certificate may sign others. */
export function basicConstraints(ca: boolean): Buffer {
  return extension('2.5.29.19', true, derSequence(...(ca ? [der(derTag.boolean, Buffer.from([0xff]))] : [])))
}

/** What the key itself may do. */
export function keyUsage(...usages: readonly (keyof typeof keyUsageBits)[]): Buffer {
  const bits = usages.reduce((sum, usage) => sum | keyUsageBits[usage], 0)
  // DER leaves out trailing zero bits and says how many of the octet are unused.
  const unused = 31 - Math.clz32(bits & -bits)
  return extension('2.5.29.15', true, der(derTag.bitString, Buffer.from([unused, bits])))
}

/** What a certificate may be shown for. */
export function extendedKeyUsage(usages: readonly ExtendedKeyUsage[]): Buffer {
  return extension('2.5.29.37', false, derSequence(...usages.map((usage) => derOid(extendedKeyUsageOids[usage]))))
}

/** The names and addresses that a serving certificate is good for; what parses as an IP address becomes one. */
export function subjectAlternativeNames(hosts: readonly string[]): Buffer {
  const names = hosts.map((host) => {
    const address = addressBytes(host)
    return address ? der(0x87, address) : der(0x82, Buffer.from(host, 'latin1'))
  })
  return extension('2.5.29.17', false, derSequence(...names))
}

/** The identifier of a key: SHA-1 of its bits, as RFC 5280 proposes; a name and no protection. */
export function keyIdentifier(publicKeyBits: Uint8Array): Buffer {
  return createHash('sha1').update(publicKeyBits).digest()
}

/** Names the certificate's own key. */
export function subjectKeyIdentifier(id: Uint8Array): Buffer {
  return extension('2.5.29.14', false, der(derTag.octetString, id))
}

/** Names the key that signed. */
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
