import type { Resource } from '../../resource/resource.ts'

const configurations: ReadonlySet<string> = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
])
const reviews: ReadonlySet<string> = new Set([
  'authentication.k8s.io/selfsubjectreviews',
  'authentication.k8s.io/tokenreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  'authorization.k8s.io/subjectaccessreviews',
])

/** What configures admission is never subject to webhooks, so that a mistake in one can be taken back. */
export function configuresAdmission({ kind }: Resource): boolean {
  return kind.group === 'admissionregistration.k8s.io' && configurations.has(kind.kind)
}

/** Reviews that a cluster cannot work without, which policies do not see (kubeapiserver/admission/exclusion). */
export function isExcludedReview({ kind }: Resource): boolean {
  return reviews.has(`${kind.group}/${kind.plural}`)
}
