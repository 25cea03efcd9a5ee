import type { BuiltinTable } from '../builtin-resources.ts'
import { flowSchemas } from './flow-schema/flow-schema.ts'
import { priorityLevelConfigurations } from './priority-level-configuration/priority-level-configuration.ts'

/** The resources of the flowcontrol.apiserver.k8s.io group. */
export const flowcontrolResources: BuiltinTable = {
  'flowcontrol.apiserver.k8s.io/flowschemas': flowSchemas,
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': priorityLevelConfigurations,
}
