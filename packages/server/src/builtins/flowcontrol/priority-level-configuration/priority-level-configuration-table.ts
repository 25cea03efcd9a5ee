import type { PriorityLevelConfiguration } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, type Columns, defineTable, type Loose, nameColumn, textColumn } from '../../../table/columns.ts'

/** The columns of PriorityLevelConfigurations. */
export const priorityLevelConfigurationTable: TableDefinition = defineTable<PriorityLevelConfiguration>([
  nameColumn,
  textColumn('Type', 'Whether the level limits requests.', ({ spec }) => spec?.type ?? ''),
  textColumn('NominalConcurrencyShares', 'Share of the concurrency limit of the server.', ({ spec }) =>
    spec?.limited ? (spec.limited.nominalConcurrencyShares ?? 0) : '<none>',
  ),
  queuingColumn('Queues', 'Number of queues.', 'queues'),
  queuingColumn('HandSize', 'Number of queues that a flow may use.', 'handSize'),
  queuingColumn('QueueLengthLimit', 'Number of requests that may wait in a queue.', 'queueLengthLimit'),
  ageColumn,
])

function queuingColumn(
  name: string,
  description: string,
  field: 'queues' | 'handSize' | 'queueLengthLimit',
): Columns<Loose<PriorityLevelConfiguration>> {
  return textColumn(name, description, ({ spec }) => {
    const queuing = spec?.limited?.limitResponse?.queuing
    return queuing ? (queuing[field] ?? 0) : '<none>'
  })
}
