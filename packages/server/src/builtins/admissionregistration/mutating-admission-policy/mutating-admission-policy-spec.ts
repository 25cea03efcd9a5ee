import type * as admission from '@kubewright/k8s/admissionregistration/v1'

/** The spec of a MutatingAdmissionPolicy. */
export interface MutatingPolicySpec
  extends Pick<
    admission.ValidatingAdmissionPolicySpec,
    'failurePolicy' | 'matchConditions' | 'matchConstraints' | 'paramKind' | 'variables'
  > {
  mutations?: Mutation[] | undefined
  reinvocationPolicy?: string | undefined
}

/** One change of a MutatingAdmissionPolicy. */
export interface Mutation {
  patchType: string
  applyConfiguration?: { expression?: string | undefined } | undefined
  jsonPatch?: { expression?: string | undefined } | undefined
}

/** The spec of a MutatingAdmissionPolicyBinding. */
export type MutatingPolicyBindingSpec = Omit<admission.ValidatingAdmissionPolicyBindingSpec, 'validationActions'>
