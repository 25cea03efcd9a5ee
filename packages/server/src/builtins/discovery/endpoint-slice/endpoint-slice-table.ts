import type { EndpointSlice } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { firstOf } from '../../../table/human.ts'

/** The columns of EndpointSlices. */
export const endpointSliceTable: TableDefinition = defineTable<EndpointSlice>([
  nameColumn,
  textColumn('AddressType', 'Type of the addresses.', ({ addressType }) => addressType ?? ''),
  textColumn('Ports', 'Ports of the endpoints.', ({ ports }) =>
    shortList((ports ?? []).map(({ port, name }) => String(port ?? name ?? '*'))),
  ),
  textColumn('Endpoints', 'Addresses of the endpoints.', ({ endpoints }) =>
    shortList((endpoints ?? []).flatMap(({ addresses }) => addresses ?? [])),
  ),
  ageColumn,
])

function shortList(items: readonly string[]): string {
  return firstOf(items, 3) || '<unset>'
}
