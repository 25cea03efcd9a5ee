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

/** Whether the resource configures admission. Webhooks never apply to it, so that a faulty configuration can be corrected. */
export function configuresAdmission({ kind }: Resource): boolean {
  return kind.group === 'admissionregistration.k8s.io' && configurations.has(kind.kind)
}

/** Whether policies skip the resource: reviews that a cluster needs to function (kubeapiserver/admission/exclusion). */
export function isExcludedReview({ kind }: Resource): boolean {
  return reviews.has(`${kind.group}/${kind.plural}`)
}
