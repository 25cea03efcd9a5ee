import type { AdmissionPlugin } from '../admission/admission.ts'
import {
  type OwnerEnforcementOptions,
  ownerReferencesPermissionEnforcement,
} from './owner-references-permission-enforcement.ts'

/** The plugins that are off unless they are asked for, by the names that kube-apiserver's --enable-admission-plugins takes. */
export const optionalAdmissionPlugins = ['OwnerReferencesPermissionEnforcement'] as const

/** The name of an admission plugin that is off unless it is asked for. */
export type OptionalAdmissionPlugin = (typeof optionalAdmissionPlugins)[number]

/** Adds plugins to those that run always, each at its place in the order of kube-apiserver (kubeapiserver/options/plugins.go). */
export function installOptionalAdmission(
  admission: AdmissionPlugin[],
  options: OwnerEnforcementOptions,
  names: readonly OptionalAdmissionPlugin[],
): void {
  if (!names.includes('OwnerReferencesPermissionEnforcement')) return
  const after = admission.findIndex(({ name }) => name === 'StorageObjectInUseProtection')
  admission.splice(after + 1, 0, ownerReferencesPermissionEnforcement(options))
}
