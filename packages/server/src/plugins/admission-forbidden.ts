import { type ApiError, newForbidden } from '@kubewright/api'
import type { AdmissionAttributes } from '../admission/admission.ts'

/** The 403 error of a plugin. An object without a name yet is named by its generateName prefix. */
export function admissionForbidden(attributes: AdmissionAttributes, why: string): ApiError {
  const { group, plural } = attributes.resource.kind
  return newForbidden({ group, resource: plural }, nameOf(attributes), why)
}

function nameOf({ name, object }: AdmissionAttributes): string {
  return name || object?.metadata.name || object?.metadata.generateName || 'Unknown'
}

/** Whether the request is for the resource itself and not for a subresource. */
export function isAbout({ resource, subresource }: AdmissionAttributes, group: string, plural: string): boolean {
  return subresource === '' && resource.kind.plural === plural && resource.kind.group === group
}
