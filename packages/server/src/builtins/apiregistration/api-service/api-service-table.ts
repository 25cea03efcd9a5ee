import type { APIService } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, type Loose, nameColumn, textColumn } from '../../../table/columns.ts'

/** The columns of APIServices. */
export const apiServiceTable: TableDefinition = defineTable<APIService>(
  [
    nameColumn,
    textColumn('Service', 'Service of the extension server, or Local.', ({ spec }) =>
      spec?.service ? `${spec.service.namespace ?? ''}/${spec.service.name ?? ''}` : 'Local',
    ),
    textColumn('Available', 'Whether the group version is served.', availability),
    ageColumn,
  ],
  { repeatColumns: true },
)

function availability({ status }: Loose<APIService>): string {
  const available = status?.conditions?.find(({ type }) => type === 'Available')
  if (!available) return 'Unknown'
  const text = available.status ?? ''
  return text !== 'True' && available.reason ? `${text} (${available.reason})` : text
}
