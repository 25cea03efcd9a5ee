import type { MutableObject } from '../../resource/object.ts'
import type { PodTemplate } from '../pod/pod-types.ts'
import { podTemplateWarnings } from '../pod/pod-warnings.ts'
import { part, specPath } from '../strategy-checks.ts'

/** Warnings about the pod template in the spec of a workload. */
export function templateWarnings(object: MutableObject): string[] {
  const { template = {} } = part<{ template?: PodTemplate }>(object, 'spec')
  return podTemplateWarnings(template, specPath.child('template'))
}
