import type { Scale } from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { ageColumn, defineTable, integerColumn, textColumn } from '../../table/columns.ts'

/** The columns of the scale subresource of built-in kinds. */
export const scaleTable: TableDefinition = defineTable<Scale>([
  textColumn('Name', 'Name of the scaled object.', ({ metadata }) => metadata?.name ?? ''),
  integerColumn('Desired', 'Number of replicas that should run.', ({ spec }) => spec?.replicas ?? 0),
  integerColumn('Available', 'Number of replicas that run.', ({ status }) => status?.replicas ?? 0),
  ageColumn,
])
