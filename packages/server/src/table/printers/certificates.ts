import type { CertificateSigningRequest } from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { columnTexts } from '../column-texts.ts'
import { ageColumn, type Loose, nameColumn, printer, textColumn } from '../columns.ts'
import { ageOf, humanDuration } from '../human.ts'

/** Tables of the group certificates.k8s.io. */
export const certificatesTables: Readonly<Record<string, TableDefinition>> = {
  'certificates.k8s.io/certificatesigningrequests': printer<CertificateSigningRequest>(
    [
      nameColumn,
      ageColumn,
      textColumn('SignerName', columnTexts['CertificateSigningRequestSpec.signerName']),
      textColumn('Requestor', columnTexts['CertificateSigningRequestSpec.request']),
      textColumn('RequestedDuration', columnTexts['CertificateSigningRequestSpec.expirationSeconds']),
      textColumn('Condition', columnTexts['CertificateSigningRequestStatus.conditions']),
    ],
    (request, now) => {
      const { metadata, spec } = request
      const seconds = spec?.expirationSeconds
      return [
        metadata?.name ?? '',
        ageOf(metadata?.creationTimestamp, now),
        spec?.signerName || '<none>',
        spec?.username ?? '',
        typeof seconds === 'number' ? humanDuration(seconds * 1000) : '<none>',
        conditionText(request),
      ]
    },
  ),
}

/** Denial wins over approval; failure and the certificate are told besides. */
function conditionText({ status }: Loose<CertificateSigningRequest>): string {
  const has = (wanted: string): boolean => status?.conditions?.some(({ type }) => type === wanted) ?? false
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  return `${decision}${has('Failed') ? ',Failed' : ''}${status?.certificate ? ',Issued' : ''}`
}
