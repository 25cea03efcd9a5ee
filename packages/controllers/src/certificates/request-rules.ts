import type { ParsedCertificateRequest } from '@kubewright/base/pki'
import type { CertificateSigningRequest } from '@kubewright/k8s'

/** The signers that a cluster has of its own. */
export const signerNames = {
  client: 'kubernetes.io/kube-apiserver-client',
  kubeletClient: 'kubernetes.io/kube-apiserver-client-kubelet',
  kubeletServing: 'kubernetes.io/kubelet-serving',
  legacy: 'kubernetes.io/legacy-unknown',
} as const

type Usages = readonly string[]

/** Why a signer refuses a request; undefined when it would sign. */
export function refusal(signerName: string, request: ParsedCertificateRequest, usages: Usages): string | undefined {
  switch (signerName) {
    case signerNames.client:
      return clientRefusal(usages)
    case signerNames.kubeletClient:
      return kubeletClientRefusal(request, usages)
    case signerNames.kubeletServing:
      return kubeletServingRefusal(request, usages)
    default:
      return undefined
  }
}

/** Whether the request has a condition that holds. */
export function hasCondition({ status }: CertificateSigningRequest, type: 'Approved' | 'Denied' | 'Failed'): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === type && condition.status !== 'False')
}

function clientRefusal(usages: Usages): string | undefined {
  const allowed = new Set(['digital signature', 'key encipherment', 'client auth'])
  const other = usages.find((usage) => !allowed.has(usage))
  if (other !== undefined) return `invalid usage for client certificate: ${other}`
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth'
}

function subjectRefusal({ commonName, organizations }: ParsedCertificateRequest): string | undefined {
  if (organizations.length !== 1 || organizations[0] !== 'system:nodes')
    return 'subject organization is not system:nodes'
  return commonName.startsWith('system:node:') ? undefined : 'subject common name does not begin with system:node:'
}

/** Why this is no request of a kubelet for a client certificate; undefined when it is one. */
export function kubeletClientRefusal(request: ParsedCertificateRequest, usages: Usages): string | undefined {
  const wrong = subjectRefusal(request)
  if (wrong !== undefined) return wrong
  if (request.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed'
  if (request.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed'
  if (request.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed'
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed'
  return usagesRefusal(usages, 'client auth')
}

function kubeletServingRefusal(request: ParsedCertificateRequest, usages: Usages): string | undefined {
  const wrong = subjectRefusal(request)
  if (wrong !== undefined) return wrong
  if (request.dnsNames.length === 0 && request.ipAddresses.length === 0) return 'DNS or IP subjectAltName is required'
  if (request.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed'
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed'
  return usagesRefusal(usages, 'server auth')
}

/** Exactly these; only what RSA keys need besides may be missing. */
function usagesRefusal(usages: Usages, auth: string): string | undefined {
  const optional = 'key encipherment'
  const found = new Set(usages.filter((usage) => usage !== optional))
  if (found.size === 2 && found.has('digital signature') && found.has(auth)) return undefined
  return `usages did not match [${[auth, 'digital signature', optional].sort().join(' ')}]`
}
