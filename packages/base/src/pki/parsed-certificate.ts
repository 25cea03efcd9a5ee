import type { X509Certificate } from 'node:crypto'
import { IPAddress } from '../syntax/ip.ts'
import { type DerValue, derTag, readChildren, readDer, readOid } from './der.ts'
import { crypto } from './node-crypto.ts'
import { readName } from './x509-name.ts'

/** The names of the subject alternative name extension. */
export interface AlternativeNames {
  readonly dns: readonly string[]
  readonly addresses: readonly IPAddress[]
  /** Number of e-mail addresses and URIs. They never match a server, but name constraints can exclude them. */
  readonly others: number
  /** The encoded extension value. */
  readonly bytes: Buffer
}

/** An IP range of a name constraint: an address matches if its masked bytes equal the masked network. */
export interface AddressRange {
  readonly network: Buffer
  readonly mask: Buffer
}

/** The permitted or excluded subtrees of a name constraints extension. */
export interface NameSubtrees {
  readonly dns: readonly string[]
  readonly addresses: readonly AddressRange[]
  /** Number of subtrees for e-mail addresses and URIs. */
  readonly others: number
}

/** The parts of a certificate that chain verification reads. */
export interface ParsedCertificate {
  readonly x509: X509Certificate
  readonly version: number
  readonly serial: Buffer
  readonly commonName: string
  readonly organizations: readonly string[]
  /** Encoded names. Go compares issuer and subject byte by byte. */
  readonly issuer: Buffer
  readonly subject: Buffer
  readonly publicKeyInfo: Buffer
  /** Milliseconds since the Unix epoch. */
  readonly notBefore: number
  readonly notAfter: number
  /** Object identifier; of RSA-PSS with the identifier of the digest after a slash, which is missing for parameters that Go refuses. */
  readonly signatureAlgorithm: string
  /** Undefined without a basic constraints extension. */
  readonly basicConstraints: { readonly ca: boolean; readonly maxPathLength: number | undefined } | undefined
  /** The first octet of the key usage extension; 0 without the extension. */
  readonly keyUsage: number
  /** Object identifiers of the extended key usages; empty if the certificate is not restricted. */
  readonly extendedKeyUsages: readonly string[]
  readonly names: AlternativeNames | undefined
  readonly nameConstraints: { readonly permitted: NameSubtrees; readonly excluded: NameSubtrees } | undefined
  readonly subjectKeyId: Buffer | undefined
  readonly authorityKeyId: Buffer | undefined
  /** Whether a critical extension is present that verification does not understand. */
  readonly unhandledCritical: boolean
}

/** Extensions that chain verification may ignore although they are critical. As in Go's crypto/x509/parser.go. */
const ignorable = new Set(['2.5.29.31', '2.5.29.32', '2.5.29.33'])
const maxExtensions = 200

/**
 * Decodes a certificate. Throws an Error with a text of Go's crypto/x509 if the encoding is malformed or has a feature that Go refuses, such
 * as a repeated extension.
 */
export function parseCertificate(bytes: Uint8Array): ParsedCertificate {
  try {
    return decode(bytes)
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('x509: ')) throw error
    throw new Error('x509: malformed certificate', { cause: error })
  }
}

function decode(bytes: Uint8Array): ParsedCertificate {
  const x509 = new (crypto().X509Certificate)(bytes)
  const [tbs, outerAlgorithm] = readChildren(readDer(x509.raw)[0], derTag.sequence)
  const fields = readChildren(tbs, derTag.sequence)
  const versionField = fields[0]?.tag === 0xa0 ? fields.shift() : undefined
  const version = versionField ? (readDer(versionField.content)[0]?.content[0] ?? 0) + 1 : 1
  const [serial, algorithm, issuer, validity, subject, publicKeyInfo, ...rest] = fields
  if (version > 3) throw new Error('x509: invalid version')
  if (serial?.tag !== derTag.integer || publicKeyInfo === undefined) throw new Error('x509: malformed certificate')
  if ((serial.content[0] ?? 0) & 0x80) throw new Error('x509: negative serial number')
  if (!outerAlgorithm?.bytes.equals(algorithm!.bytes)) {
    throw new Error("x509: inner and outer signature algorithm identifiers don't match")
  }
  const [notBefore, notAfter] = readChildren(validity, derTag.sequence)
  const list = version === 3 ? rest.find(({ tag }) => tag === 0xa3) : undefined
  return {
    x509,
    version,
    serial: serial.content,
    ...readName(subject),
    issuer: issuer!.bytes,
    subject: subject!.bytes,
    publicKeyInfo: publicKeyInfo.bytes,
    notBefore: readTime(notBefore),
    notAfter: readTime(notAfter),
    signatureAlgorithm: readSignatureAlgorithm(algorithm),
    ...readExtensions(list ? readChildren(readDer(list.content)[0], derTag.sequence) : []),
  }
}

const rsaPss = '1.2.840.113549.1.1.10'

function readSignatureAlgorithm(algorithm: DerValue | undefined): string {
  const [identifier, parameters] = readChildren(algorithm, derTag.sequence)
  const oid = readOid(identifier)
  return oid === rsaPss ? `${oid}/${parameters ? readPssDigest(parameters) : ''}` : oid
}

/** Go accepts RSA-PSS only if the mask function uses the same digest and the salt is as long as the digest. */
function readPssDigest(parameters: DerValue): string {
  const fields = readChildren(parameters, derTag.sequence)
  const field = (tag: number): DerValue | undefined =>
    readDer(fields.find((candidate) => candidate.tag === tag)?.content ?? Buffer.alloc(0))[0]
  const [digestField, maskField, salt] = [field(0xa0), field(0xa1), field(0xa2)]
  if (!digestField || !maskField || !salt) return ''
  const digest = readOid(readChildren(digestField, derTag.sequence)[0])
  const maskDigest = readOid(readChildren(readChildren(maskField, derTag.sequence)[1], derTag.sequence)[0])
  return digest === maskDigest && salt.content.at(-1) === pssSaltLengths[digest] ? digest : ''
}

const pssSaltLengths: Readonly<Record<string, number>> = {
  '2.16.840.1.101.3.4.2.1': 32,
  '2.16.840.1.101.3.4.2.2': 48,
  '2.16.840.1.101.3.4.2.3': 64,
}

type Extensions = Pick<
  ParsedCertificate,
  | 'basicConstraints'
  | 'keyUsage'
  | 'extendedKeyUsages'
  | 'names'
  | 'nameConstraints'
  | 'subjectKeyId'
  | 'authorityKeyId'
  | 'unhandledCritical'
>

function readExtensions(list: readonly DerValue[]): Extensions {
  if (list.length > maxExtensions) throw new Error('x509: too many extensions')
  const found: { -readonly [name in keyof Extensions]: Extensions[name] } = {
    basicConstraints: undefined,
    keyUsage: 0,
    extendedKeyUsages: [],
    names: undefined,
    nameConstraints: undefined,
    subjectKeyId: undefined,
    authorityKeyId: undefined,
    unhandledCritical: false,
  }
  const seen = new Set<string>()
  for (const item of list) {
    const parts = readChildren(item, derTag.sequence)
    const oid = readOid(parts[0])
    if (seen.has(oid)) throw new Error(`x509: certificate contains duplicate extension with OID "${oid}"`)
    seen.add(oid)
    const critical = parts[1]?.tag === derTag.boolean && parts[1].content[0] !== 0
    const octets = parts.at(-1)
    if (octets?.tag !== derTag.octetString) throw new Error('x509: malformed extension')
    const [value] = readDer(octets.content)
    switch (oid) {
      case '2.5.29.14':
        if (critical) throw new Error('x509: subject key identifier incorrectly marked critical')
        found.subjectKeyId = value?.content
        break
      case '2.5.29.15':
        if (value?.tag !== derTag.bitString) throw new Error('x509: invalid key usage')
        found.keyUsage = value.content[1] ?? 0
        break
      case '2.5.29.17':
        found.names = readAlternativeNames(value)
        if (critical && found.names.dns.length + found.names.addresses.length + found.names.others === 0) {
          found.unhandledCritical = true
        }
        break
      case '2.5.29.19':
        found.basicConstraints = readBasicConstraints(value)
        break
      case '2.5.29.30':
        found.nameConstraints = readNameConstraints(value)
        break
      case '2.5.29.35':
        if (critical) throw new Error('x509: authority key identifier incorrectly marked critical')
        found.authorityKeyId = readChildren(value, derTag.sequence).find(({ tag }) => tag === 0x80)?.content
        break
      case '2.5.29.37':
        found.extendedKeyUsages = readChildren(value, derTag.sequence).map(readOid)
        break
      // Policies restrict a chain further than Go's defaults do; a certificate with such a restriction is refused.
      case '2.5.29.36':
      case '2.5.29.54':
        found.unhandledCritical = true
        break
      default:
        if (critical && !ignorable.has(oid)) found.unhandledCritical = true
    }
  }
  return found
}

function readBasicConstraints(value: DerValue | undefined): ParsedCertificate['basicConstraints'] {
  const parts = readChildren(value, derTag.sequence)
  const ca = parts[0]?.tag === derTag.boolean && parts[0].content[0] !== 0
  const length = parts.find(({ tag }) => tag === derTag.integer)
  return { ca, maxPathLength: length ? length.content.readUIntBE(0, Math.min(6, length.content.length)) : undefined }
}

function readAlternativeNames(value: DerValue | undefined): AlternativeNames {
  const dns: string[] = []
  const addresses: IPAddress[] = []
  let others = 0
  for (const { tag, content } of readChildren(value, derTag.sequence)) {
    if (tag === 0x82) dns.push(content.toString('latin1'))
    else if (tag === 0x87) {
      if (content.length !== 4 && content.length !== 16) {
        throw new Error(`x509: cannot parse IP address of length ${content.length}`)
      }
      addresses.push(new IPAddress(content))
    } else if (tag === 0x81 || tag === 0x86) others++
  }
  return { dns, addresses, others, bytes: value!.bytes }
}

/** Throws for subtrees of other kinds of names: they restrict the CA in a way that verification does not check. */
function readNameConstraints(value: DerValue | undefined): NonNullable<ParsedCertificate['nameConstraints']> {
  const parts = readChildren(value, derTag.sequence)
  const subtrees = (wanted: number): NameSubtrees => {
    const dns: string[] = []
    const addresses: AddressRange[] = []
    let others = 0
    for (const subtree of readDer(parts.find(({ tag }) => tag === wanted)?.content ?? Buffer.alloc(0))) {
      const [base] = readChildren(subtree, derTag.sequence)
      const { tag, content } = base ?? { tag: 0, content: Buffer.alloc(0) }
      if (tag === 0x82) dns.push(content.toString('latin1'))
      else if (tag === 0x87 && (content.length === 8 || content.length === 32)) {
        const half = content.length / 2
        addresses.push({ network: content.subarray(0, half), mask: content.subarray(half) })
      } else if (tag === 0x81 || tag === 0x86) others++
      else throw new Error('x509: unhandled name constraint')
    }
    return { dns, addresses, others }
  }
  return { permitted: subtrees(0xa0), excluded: subtrees(0xa1) }
}

/** UTCTime covers 1950 to 2049. X.509 requires seconds and UTC in both forms. */
function readTime(value: DerValue | undefined): number {
  const text = value?.content.toString('latin1') ?? ''
  const short = value?.tag === derTag.utcTime
  const match = (short ? /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/ : /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/).exec(
    text,
  )
  if (!match) throw new Error('x509: malformed validity')
  const [year = 0, month = 0, ...rest] = match.slice(1).map(Number)
  const [day, hour, minute, second] = rest
  return Date.UTC(short ? (year < 50 ? 2000 : 1900) + year : year, month - 1, day, hour, minute, second)
}
