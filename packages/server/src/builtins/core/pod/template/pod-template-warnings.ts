import type { MutableObject } from '../../../../resource/object.ts'
import { part, specPath } from '../../../checks/strategy-checks.ts'
import type { PodTemplate } from '../pod-types.ts'
import { podTemplateWarnings } from '../warnings/pod-warnings.ts'

/** Warnings about the pod template in the spec of a workload. */
export function templateWarnings(object: MutableObject): string[] {
  const { template = {} } = part<{ template?: PodTemplate | undefined }>(object, 'spec')
  return podTemplateWarnings(template, specPath.child('template'))
}
