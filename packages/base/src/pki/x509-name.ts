import type { Defined } from '../omit-undefined.ts'
import { type DerValue, der, derOid, derSequence, derSetOf, derTag, readChildren, readOid } from './der.ts'

/**
 * The subject of a certificate. The API server reads the common name (CN) as the user and the organizations (O) as
 * groups.
 */
export interface CertificateSubject {
  readonly commonName: string
  readonly organizations?: readonly string[] | undefined
}

const commonNameOid = '2.5.4.3'
const organizationOid = '2.5.4.10'

/** Encodes a distinguished name: organizations first, then the common name, like Go. */
export function encodeName({ commonName, organizations = [] }: CertificateSubject): Buffer {
  const attribute = (oid: string, value: string): Buffer =>
    derSetOf(derSequence(derOid(oid), der(derTag.utf8String, Buffer.from(value))))
  const parts = organizations.map((organization) => attribute(organizationOid, organization))
  if (commonName !== '') parts.push(attribute(commonNameOid, commonName))
  return derSequence(...parts)
}

/** Decodes the common name and the organizations of a distinguished name. Other attributes are ignored. */
export function readName(name: DerValue | undefined): Defined<CertificateSubject> {
  let commonName = ''
  const organizations: string[] = []
  for (const set of readChildren(name, derTag.sequence)) {
    for (const pair of readChildren(set, derTag.set)) {
      const [type, value] = readChildren(pair, derTag.sequence)
      const oid = readOid(type)
      const text = value?.content.toString('utf8') ?? ''
      if (oid === commonNameOid) commonName = text
      else if (oid === organizationOid) organizations.push(text)
    }
  }
  return { commonName, organizations }
}
