import type { FlowSchema } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'

/** The columns of FlowSchemas. */
export const flowSchemaTable: TableDefinition = defineTable<FlowSchema>([
  nameColumn,
  textColumn(
    'PriorityLevel',
    'Priority level of the requests.',
    ({ spec }) => spec?.priorityLevelConfiguration?.name ?? '',
  ),
  textColumn(
    'MatchingPrecedence',
    'Order of the schemas: the lowest number that matches a request wins.',
    ({ spec }) => spec?.matchingPrecedence ?? 0,
  ),
  textColumn('DistinguisherMethod', 'What divides the requests into flows.', ({ spec }) =>
    spec?.distinguisherMethod ? (spec.distinguisherMethod.type ?? '') : '<none>',
  ),
  ageColumn,
  textColumn(
    'MissingPL',
    'Whether the priority level is missing.',
    ({ status }) => status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
  ),
])
