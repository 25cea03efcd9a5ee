import type { Endpoints } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, type Loose, nameColumn, textColumn } from '../../../table/columns.ts'
import { firstOf } from '../../../table/human.ts'

/** The columns of Endpoints. */
export const endpointsTable: TableDefinition = defineTable<Endpoints>([
  nameColumn,
  textColumn('Endpoints', 'Ready addresses with their ports.', addressesText),
  ageColumn,
])

function addressesText({ subsets }: Loose<Endpoints>): string {
  if (!subsets?.length) return '<none>'
  const found: string[] = []
  for (const { addresses, ports } of subsets) {
    const ips = (addresses ?? []).map(({ ip }) => ip ?? '')
    // Endpoints of a headless service may have no ports.
    if (!ports?.length) found.push(...ips)
    for (const { port } of ports ?? []) found.push(...ips.map((ip) => hostPort(ip, port ?? 0)))
  }
  return firstOf(found, 3)
}

/** Joins an address and a port; an IPv6 address needs brackets. */
function hostPort(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`
}
