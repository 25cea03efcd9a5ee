import type { ParsedCertificateRequest } from '@kubewright/base/pki'
import type { CertificateSigningRequest } from '@kubewright/k8s'

/** The built-in signers. */
export const signerNames = {
  client: 'kubernetes.io/kube-apiserver-client',
  kubeletClient: 'kubernetes.io/kube-apiserver-client-kubelet',
  kubeletServing: 'kubernetes.io/kubelet-serving',
  legacy: 'kubernetes.io/legacy-unknown',
} as const

type Usages = readonly string[]

/** The reason why a signer refuses a request; undefined when the signer accepts it. */
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

/** Whether a condition of this type is True. */
export function hasCondition({ status }: CertificateSigningRequest, type: 'Approved' | 'Denied' | 'Failed'): boolean {
  return (status?.conditions ?? []).some((condition) => condition.type === type && condition.status !== 'False')
}

function clientRefusal(usages: Usages): string | undefined {
  const allowed = new Set(['digital signature', 'key encipherment', 'client auth'])
  const other = usages.find((usage) => !allowed.has(usage))
  if (other !== undefined) return `invalid usage for client certificate: ${other}`
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth'
}

function organizationRefusal({ organizations }: ParsedCertificateRequest): string | undefined {
  const isNodes = organizations.length === 1 && organizations[0] === 'system:nodes'
  return isNodes ? undefined : 'subject organization is not system:nodes'
}

function nameRefusal({ commonName }: ParsedCertificateRequest): string | undefined {
  return commonName.startsWith('system:node:') ? undefined : 'subject common name does not begin with system:node:'
}

/** The reason why this is not a valid request of a kubelet for a client certificate; undefined when it is valid. */
export function kubeletClientRefusal(request: ParsedCertificateRequest, usages: Usages): string | undefined {
  const wrong = organizationRefusal(request)
  if (wrong !== undefined) return wrong
  if (request.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed'
  if (request.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed'
  if (request.ipAddresses.length > 0) return 'IP subjectAltNames are not allowed'
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed'
  return nameRefusal(request) ?? usagesRefusal(usages, 'client auth')
}

function kubeletServingRefusal(request: ParsedCertificateRequest, usages: Usages): string | undefined {
  const wrong = organizationRefusal(request)
  if (wrong !== undefined) return wrong
  if (request.dnsNames.length === 0 && request.ipAddresses.length === 0) return 'DNS or IP subjectAltName is required'
  if (request.emailAddresses.length > 0) return 'Email subjectAltNames are not allowed'
  if (request.uris.length > 0) return 'URI subjectAltNames are not allowed'
  return usagesRefusal(usages, 'server auth') ?? nameRefusal(request)
}

/** The usages must match exactly; only `key encipherment`, which RSA keys need, is optional. */
function usagesRefusal(usages: Usages, auth: string): string | undefined {
  const optional = 'key encipherment'
  const found = new Set(usages.filter((usage) => usage !== optional))
  if (found.size === 2 && found.has('digital signature') && found.has(auth)) return undefined
  return `usages did not match [${[auth, 'digital signature', optional].sort().join(' ')}]`
}
