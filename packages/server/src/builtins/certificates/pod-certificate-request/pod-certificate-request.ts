import type { KubeObject } from '@kubewright/api'
import { defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'

interface PodCertificateRequest extends KubeObject {
  readonly spec?:
    | Readonly<Record<'podName' | 'serviceAccountName' | 'nodeName' | 'signerName', string | undefined>>
    | undefined
  readonly status?: { readonly conditions?: readonly { readonly type?: string | undefined }[] | undefined } | undefined
}

const states = ['Issued', 'Denied', 'Failed']

/** PodCertificateRequests (pkg/registry/certificates/podcertificaterequest). */
export const podCertificateRequests: BuiltinDefinition = defineBuiltin({
  group: 'certificates.k8s.io',
  resource: 'podcertificaterequests',
  table: defineTable<PodCertificateRequest>([
    nameColumn,
    textColumn('PodName', 'Pod that uses the certificate.', ({ spec }) => spec?.podName ?? ''),
    textColumn('ServiceAccountName', 'Service account of the pod.', ({ spec }) => spec?.serviceAccountName ?? ''),
    textColumn('NodeName', 'Node on which the pod runs.', ({ spec }) => spec?.nodeName ?? ''),
    textColumn('SignerName', 'Signer of the certificate.', ({ spec }) => spec?.signerName ?? ''),
    textColumn('State', 'Whether the certificate was issued.', ({ status }) =>
      (status?.conditions ?? []).reduce(
        (state, { type }) => (states.includes(type ?? '') ? (type ?? '') : state),
        'Pending',
      ),
    ),
  ]),
})
