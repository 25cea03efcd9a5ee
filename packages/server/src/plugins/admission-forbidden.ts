import { type ApiError, newForbidden } from '@kubewright/api'
import type { AdmissionAttributes } from '../admission/admission.ts'

/** A refusal by a plugin. An object whose name is not generated yet is named by what it will begin with. */
export function admissionForbidden(attributes: AdmissionAttributes, why: string): ApiError {
  const { group, plural } = attributes.resource.kind
  return newForbidden({ group, resource: plural }, nameOf(attributes), why)
}

function nameOf({ name, object }: AdmissionAttributes): string {
  return name || object?.metadata.name || object?.metadata.generateName || 'Unknown'
}

/** Whether the request is about the resource itself, and not about one of its subresources. */
export function isAbout({ resource, subresource }: AdmissionAttributes, group: string, plural: string): boolean {
  return subresource === '' && resource.kind.plural === plural && resource.kind.group === group
}
