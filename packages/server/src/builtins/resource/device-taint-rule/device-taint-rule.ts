import type { KubeObject } from '@kubewright/api'
import { ageColumn, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'

interface DeviceTaintRule extends KubeObject {
  readonly spec?:
    | { readonly taint?: Readonly<Record<'key' | 'value' | 'effect' | 'timeAdded', string | undefined>> | undefined }
    | undefined
}

/** DeviceTaintRules (pkg/registry/resource/devicetaintrule). */
export const deviceTaintRules: BuiltinDefinition = defineBuiltin({
  group: 'resource.k8s.io',
  resource: 'devicetaintrules',
  table: defineTable<DeviceTaintRule>([
    nameColumn,
    textColumn('Key', 'Key of the taint.', ({ spec }) => spec?.taint?.key ?? ''),
    textColumn('Value', 'Value of the taint.', ({ spec }) => spec?.taint?.value ?? ''),
    textColumn('Effect', 'Effect of the taint on pods.', ({ spec }) => spec?.taint?.effect ?? ''),
    textColumn('TimeAdded', 'Time at which the taint was added.', ({ spec }) => spec?.taint?.timeAdded ?? ''),
    ageColumn,
  ]),
})
