import type { BuiltinTable } from '../builtin-resources.ts'
import { validatingAdmissionPolicies } from './validating-admission-policy/validating-admission-policy.ts'
import { validatingAdmissionPolicyBindings } from './validating-admission-policy-binding/validating-admission-policy-binding.ts'
import {
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
} from './webhook-configuration/webhook-configuration.ts'

/** The resources of the admissionregistration.k8s.io group. */
export const admissionregistrationResources: BuiltinTable = {
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': mutatingWebhookConfigurations,
  'admissionregistration.k8s.io/validatingadmissionpolicies': validatingAdmissionPolicies,
  'admissionregistration.k8s.io/validatingadmissionpolicybindings': validatingAdmissionPolicyBindings,
  'admissionregistration.k8s.io/validatingwebhookconfigurations': validatingWebhookConfigurations,
}
