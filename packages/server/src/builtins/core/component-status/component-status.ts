import type { ComponentStatus } from '@kubewright/k8s'
import { defineTable, type Loose, nameColumn, textColumn } from '../../../table/columns.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'

/** ComponentStatuses: a deprecated view of the control plane. */
export const componentStatuses: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'componentstatuses',
  deprecation: 'v1 ComponentStatus is deprecated in v1.19+',
  table: defineTable<ComponentStatus>([
    nameColumn,
    textColumn('Status', 'Whether the component is healthy.', statusText),
    textColumn('Message', 'Message of the health check.', (object) => healthOf(object)?.message ?? ''),
    textColumn('Error', 'Error of the health check.', (object) => healthOf(object)?.error ?? ''),
  ]),
})

type Condition = NonNullable<Loose<ComponentStatus>['conditions']>[number]

function healthOf({ conditions }: Loose<ComponentStatus>): Condition | undefined {
  return conditions?.find(({ type }) => type === 'Healthy')
}

function statusText(object: Loose<ComponentStatus>): string {
  const health = healthOf(object)
  return health ? (health.status === 'True' ? 'Healthy' : 'Unhealthy') : 'Unknown'
}
