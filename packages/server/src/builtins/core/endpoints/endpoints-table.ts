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

/** The number of addresses in a cell. */
const shown = 3

function addressesText({ subsets }: Loose<Endpoints>): string {
  if (!subsets?.length) return '<none>'
  // Only the first addresses are built: a subset has as many as addresses times ports.
  const found: string[] = []
  let total = 0
  for (const { addresses, ports } of subsets) {
    const ips = (addresses ?? []).map(({ ip }) => ip ?? '')
    // Endpoints of a headless service may have no ports.
    total += ips.length * Math.max(ports?.length ?? 0, 1)
    const few = ips.slice(0, shown)
    if (!ports?.length) for (const ip of few) found.push(ip)
    for (const { port } of (ports ?? []).slice(0, shown)) {
      for (const ip of few) found.push(hostPort(ip, port ?? 0))
    }
  }
  return firstOf(found, shown, ',', total)
}

/** Joins an address and a port; an IPv6 address needs brackets. */
function hostPort(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`
}
