import { type DerValue, der, derOid, derSequence, derSetOf, derTag, readChildren, readOid } from './der.ts'

/** Who a certificate is about: the user (CN) and the groups (O) when the API server reads it. */
export interface CertificateSubject {
  readonly commonName: string
  readonly organizations?: readonly string[]
}

const commonNameOid = '2.5.4.3'
const organizationOid = '2.5.4.10'

/** The DER of a distinguished name: organizations first, then the common name, as Go writes it. */
export function encodeName({ commonName, organizations = [] }: CertificateSubject): Buffer {
  const attribute = (oid: string, value: string): Buffer =>
    derSetOf(derSequence(derOid(oid), der(derTag.utf8String, Buffer.from(value))))
  const parts = organizations.map((organization) => attribute(organizationOid, organization))
  if (commonName !== '') parts.push(attribute(commonNameOid, commonName))
  return derSequence(...parts)
}

/** Common name and organizations of a distinguished name; other attributes are ignored. */
export function readName(name: DerValue | undefined): Required<CertificateSubject> {
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
