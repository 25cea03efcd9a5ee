import type { KeyObject } from 'node:crypto'
import { CaughtError } from '../caught-error.ts'
import { formatNetIP, IPAddress } from '../syntax/ip.ts'
import { type DerValue, derTag, fromPem, readChildren, readDer, readOid } from './der.ts'
import { crypto } from './node-crypto.ts'
import { readName } from './x509-name.ts'

/**
 * A decoded PKCS #10 certificate request. Decoding does not verify the signature: see {@link checkCertificateRequest}.
 */
export interface ParsedCertificateRequest {
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly dnsNames: readonly string[]
  readonly ipAddresses: readonly string[]
  readonly emailAddresses: readonly string[]
  readonly uris: readonly string[]
  /** The key to certify. Throws if Node does not support the type of key. */
  readonly publicKey: () => KeyObject
  /** The signed part of the request, and its signature. */
  readonly signed: Buffer
  readonly signature: Buffer
  /** The object identifier of the signature algorithm, dotted. */
  readonly signatureAlgorithm: string
}

const extensionRequestOid = '1.2.840.113549.1.9.14'
const alternativeNamesOid = '2.5.29.17'
const digests: Readonly<Record<string, string>> = {
  '1.2.840.113549.1.1.11': 'sha256',
  '1.2.840.113549.1.1.12': 'sha384',
  '1.2.840.113549.1.1.13': 'sha512',
  '1.2.840.10045.4.3.2': 'sha256',
  '1.2.840.10045.4.3.3': 'sha384',
  '1.2.840.10045.4.3.4': 'sha512',
}

/** Decodes a PEM certificate request. For malformed input, throws the error text of certificates.k8s.io. */
export function parseCertificateRequest(pem: string): ParsedCertificateRequest {
  const block = fromPem(pem)
  if (block?.label !== 'CERTIFICATE REQUEST') throw new CaughtError('PEM block type must be CERTIFICATE REQUEST')
  try {
    return readRequest(block.bytes)
  } catch (error) {
    throw new CaughtError('asn1: structure error: malformed certificate request', { cause: error })
  }
}

/** Throws unless the request is signed with the key that it contains. */
export function checkCertificateRequest(request: ParsedCertificateRequest): void {
  const digest = digests[request.signatureAlgorithm]
  // Ed25519 has no separate digest.
  const known = digest !== undefined || request.signatureAlgorithm === '1.3.101.112'
  if (!known) throw new CaughtError('x509: cannot verify signature: algorithm unimplemented')
  if (!crypto().verify(digest ?? null, request.signed, request.publicKey(), request.signature)) {
    throw new CaughtError('x509: invalid signature on certificate request')
  }
}

function readRequest(bytes: Buffer): ParsedCertificateRequest {
  const [info, algorithm, signature] = readChildren(readDer(bytes)[0], derTag.sequence)
  const [, subject, spki, attributes] = readChildren(info, derTag.sequence)
  if (signature?.tag !== derTag.bitString || !spki) throw new RangeError('certificate request is incomplete')
  return {
    ...readName(subject),
    ...readAlternativeNames(attributes),
    publicKey: () => crypto().createPublicKey({ key: spki.bytes, format: 'der', type: 'spki' }),
    signed: info!.bytes,
    signature: signature.content.subarray(1),
    signatureAlgorithm: readOid(readChildren(algorithm, derTag.sequence)[0]),
  }
}

type AlternativeNames = Pick<ParsedCertificateRequest, 'dnsNames' | 'ipAddresses' | 'emailAddresses' | 'uris'>

/** The alternative names are in the extensions, which are in an attribute of the request. */
function readAlternativeNames(attributes: DerValue | undefined): AlternativeNames {
  const names = {
    dnsNames: [] as string[],
    ipAddresses: [] as string[],
    emailAddresses: [] as string[],
    uris: [] as string[],
  }
  if (attributes?.tag !== 0xa0) return names
  for (const attribute of readDer(attributes.content)) {
    const [type, values] = readChildren(attribute, derTag.sequence)
    if (readOid(type) !== extensionRequestOid) continue
    for (const list of readChildren(values, derTag.set)) {
      for (const extension of readChildren(list, derTag.sequence)) {
        const parts = readChildren(extension, derTag.sequence)
        if (readOid(parts[0]) !== alternativeNamesOid) continue
        for (const name of readChildren(readDer(parts.at(-1)!.content)[0], derTag.sequence)) {
          if (name.tag === 0x81) names.emailAddresses.push(name.content.toString('latin1'))
          else if (name.tag === 0x82) names.dnsNames.push(name.content.toString('latin1'))
          else if (name.tag === 0x86) names.uris.push(name.content.toString('latin1'))
          else if (name.tag === 0x87) names.ipAddresses.push(formatNetIP(new IPAddress(name.content)))
        }
      }
    }
  }
  return names
}
