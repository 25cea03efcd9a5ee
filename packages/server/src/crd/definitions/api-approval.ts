import { GoURL, goQuote } from '@kubewright/base'
import type { MutableMeta } from '../../resource/object.ts'

/** The annotation with the URL of the approval of an API in a protected group, or with the reason why there is none. */
export const approvalAnnotation = 'api-approved.kubernetes.io'

/** The approval state of a CRD. */
export interface ApiApproval {
  readonly state: 'invalid' | 'approved' | 'bypassed' | 'missing'
  readonly reason: string
}

/** Whether a group belongs to the Kubernetes community, whose APIs need approval. */
export function isProtectedGroup(group: string): boolean {
  return /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(group)
}

/** The state that the annotation expresses (apiextensions-apiserver, apihelpers.GetAPIApprovalState). */
export function apiApprovalOf({ annotations }: MutableMeta): ApiApproval {
  const text = annotations?.[approvalAnnotation] ?? ''
  const must = `protected groups must have approval annotation ${goQuote(approvalAnnotation)}`
  const see = 'see https://github.com/kubernetes/enhancements/pull/1111'
  if (text === '') return { state: 'missing', reason: `${must}, ${see}` }
  if (text.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${goQuote(text)}` }
  if (isRequestUrl(text)) return { state: 'approved', reason: `approved in ${text}` }
  return { state: 'invalid', reason: `${must} with either a URL or a reason starting with "unapproved", ${see}` }
}

/** The condition of that state; only CRDs of protected groups have one. */
export function approvalCondition({ state, reason }: ApiApproval): {
  type: 'KubernetesAPIApprovalPolicyConformant'
  status: string
  reason: string
  message: string
} {
  const reasons = {
    invalid: 'InvalidAnnotation',
    missing: 'MissingAnnotation',
    approved: 'ApprovedAnnotation',
    bypassed: 'UnapprovedAnnotation',
  }
  const status = state === 'approved' ? 'True' : 'False'
  return { type: 'KubernetesAPIApprovalPolicyConformant', status, reason: reasons[state], message: reason }
}

function isRequestUrl(text: string): boolean {
  try {
    const url = GoURL.parse(text)
    return url.scheme !== '' && url.host !== ''
  } catch {
    return false
  }
}
