import type * as admission from '@kubewright/k8s/admissionregistration/v1'

/** The spec of a MutatingAdmissionPolicy. */
export interface MutatingPolicySpec
  extends Pick<
    admission.ValidatingAdmissionPolicySpec,
    'failurePolicy' | 'matchConditions' | 'matchConstraints' | 'paramKind' | 'variables'
  > {
  mutations?: Mutation[]
  reinvocationPolicy?: string
}

/** One change of a MutatingAdmissionPolicy. */
export interface Mutation {
  patchType: string
  applyConfiguration?: { expression?: string }
  jsonPatch?: { expression?: string }
}

/** The spec of a MutatingAdmissionPolicyBinding. */
export type MutatingPolicyBindingSpec = Omit<admission.ValidatingAdmissionPolicyBindingSpec, 'validationActions'>
