import type { CertificateSigningRequest } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, type Loose, nameColumn, textColumn } from '../../../table/columns.ts'
import { humanDuration } from '../../../table/human.ts'

/** The columns of CertificateSigningRequests. */
export const certificateSigningRequestTable: TableDefinition = defineTable<CertificateSigningRequest>([
  nameColumn,
  ageColumn,
  textColumn('SignerName', 'Signer that should issue the certificate.', ({ spec }) => spec?.signerName || '<none>'),
  textColumn('Requestor', 'User who created the request.', ({ spec }) => spec?.username ?? ''),
  textColumn('RequestedDuration', 'Requested lifetime of the certificate.', ({ spec }) =>
    typeof spec?.expirationSeconds === 'number' ? humanDuration(spec.expirationSeconds * 1000) : '<none>',
  ),
  textColumn('Condition', 'State of the request.', conditionText),
])

/** A denial takes precedence over an approval; a failure and an issued certificate are added. */
function conditionText({ status }: Loose<CertificateSigningRequest>): string {
  const has = (wanted: string): boolean => status?.conditions?.some(({ type }) => type === wanted) ?? false
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return `${decision}${has('Failed') ? ',Failed' : ''}${status?.certificate ? ',Issued' : ''}`
}
