import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import {
  der,
  derBitString,
  derInteger,
  derOid,
  derSequence,
  encodeName,
  type KeyedCertificate,
  toPem,
} from '@kubewright/base/pki'

/** The contents of a test certificate. Unlike `CertificateAuthority`, it adds no extension that is not listed here. */
export interface TestCertificate {
  readonly subject: string
  /** @default the certificate signs itself */
  readonly issuer?: { readonly subject: string; readonly key: string } | undefined
  /** @default yesterday */
  readonly notBefore?: number
  /** @default tomorrow */
  readonly notAfter?: number
  /** Basic constraints. @default no extension */
  readonly ca?: boolean
  readonly maxPathLength?: number
  /** The octet of the key usage extension: 0x80 digital signature, 0x04 certificate signing. @default no extension */
  readonly keyUsage?: number
  /** Object identifiers. @default no extension */
  readonly extendedKeyUsages?: readonly string[]
  /** DNS names and IPv4 addresses. @default no extension */
  readonly hosts?: readonly string[]
  readonly permittedDomains?: readonly string[]
  /** The key of another certificate with the same subject, to cross-sign it. @default a new key */
  readonly sameKeyAs?: KeyedCertificate | undefined
  /** Adds a critical extension that no verifier knows. */
  readonly unknownCritical?: boolean
  /** The digest of the signature. MD5 needs an issuer with an RSA key. @default sha256 */
  readonly digest?: 'sha256' | 'sha1' | 'md5'
  /** @default ec */
  readonly keyType?: 'ec' | 'rsa'
  /** @default 3 */
  readonly version?: 1 | 3
}

/** A certificate and its key, with the subject that its own certificates name as the issuer. */
export interface IssuedTestCertificate extends KeyedCertificate {
  readonly subject: string
}

const day = 24 * 60 * 60 * 1000
let serial = 1

/** Generates a key and a certificate for it. */
export function testCertificate(content: TestCertificate): IssuedTestCertificate {
  const { subject, issuer, digest = 'sha256', version = 3 } = content
  const { publicKey, privateKey } = keysFor(content)
  const signer: KeyObject = issuer ? createPrivateKey(issuer.key) : privateKey
  const algorithm = derSequence(
    ...(signer.asymmetricKeyType === 'rsa'
      ? [derOid(`1.2.840.113549.1.1.${{ md5: 4, sha1: 5, sha256: 11 }[digest]}`), der(0x05)]
      : [derOid(digest === 'sha1' ? '1.2.840.10045.4.1' : '1.2.840.10045.4.3.2')]),
  )
  const now = Date.now()
  const extensions = extensionsOf(content)
  const tbs = derSequence(
    ...(version === 3 ? [der(0xa0, derInteger(Buffer.from([2])))] : []),
    derInteger(Buffer.from([serial++])),
    algorithm,
    encodeName({ commonName: issuer?.subject ?? subject }),
    derSequence(time(content.notBefore ?? now - day), time(content.notAfter ?? now + day)),
    encodeName({ commonName: subject }),
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(version === 3 && extensions.length > 0 ? [der(0xa3, derSequence(...extensions))] : []),
  )
  const cert = toPem('CERTIFICATE', derSequence(tbs, algorithm, derBitString(sign(digest, tbs, signer))))
  return { subject, cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string }
}

function keysFor({ sameKeyAs, keyType }: TestCertificate): { publicKey: KeyObject; privateKey: KeyObject } {
  if (sameKeyAs) return { publicKey: createPublicKey(sameKeyAs.key), privateKey: createPrivateKey(sameKeyAs.key) }
  if (keyType === 'rsa') return generateKeyPairSync('rsa', { modulusLength: 2048 })
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
}

function extensionsOf(content: TestCertificate): Buffer[] {
  const { ca, maxPathLength, keyUsage, extendedKeyUsages, hosts, permittedDomains, unknownCritical } = content
  const extensions: Buffer[] = []
  const add = (oid: string, critical: boolean, value: Buffer): void => {
    const flag = critical ? [der(0x01, Buffer.from([0xff]))] : []
    extensions.push(derSequence(derOid(oid), ...flag, der(0x04, value)))
  }
  if (ca !== undefined) {
    const length = maxPathLength === undefined ? [] : [derInteger(Buffer.from([maxPathLength]))]
    add('2.5.29.19', true, derSequence(...(ca ? [der(0x01, Buffer.from([0xff]))] : []), ...length))
  }
  if (keyUsage !== undefined) {
    const unused = 31 - Math.clz32(keyUsage & -keyUsage)
    add('2.5.29.15', true, der(0x03, Buffer.from([unused, keyUsage])))
  }
  if (extendedKeyUsages) add('2.5.29.37', false, derSequence(...extendedKeyUsages.map(derOid)))
  if (hosts) add('2.5.29.17', false, derSequence(...hosts.map(generalName)))
  if (permittedDomains) {
    const subtrees = permittedDomains.map((domain) => derSequence(generalName(domain)))
    add('2.5.29.30', true, derSequence(der(0xa0, ...subtrees)))
  }
  if (unknownCritical) add('1.2.3.4', true, der(0x05))
  return extensions
}

function generalName(host: string): Buffer {
  return /^[\d.]+$/.test(host)
    ? der(0x87, Buffer.from(host.split('.').map(Number)))
    : der(0x82, Buffer.from(host, 'latin1'))
}

function time(millis: number): Buffer {
  return der(0x17, Buffer.from(`${new Date(millis).toISOString().replace(/[-T:]/g, '').slice(2, 14)}Z`, 'latin1'))
}
