import type { Service } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, type Loose, nameColumn, textColumn, wideColumn } from '../../../table/columns.ts'
import { labelsText, loadBalancerText } from '../../../table/human.ts'

/** The columns of Services. */
export const serviceTable: TableDefinition = defineTable<Service>([
  nameColumn,
  textColumn('Type', 'How clients reach the service.', ({ spec }) => spec?.type ?? ''),
  textColumn(
    'Cluster-IP',
    'Virtual address inside the cluster.',
    ({ spec }) => spec?.clusterIPs?.[0] ?? (spec?.clusterIP || '<none>'),
  ),
  textColumn('External-IP', 'Addresses or host name outside the cluster.', externalAddress),
  textColumn('Port(s)', 'Ports with their node ports and protocols.', (service) => portsText(service) || '<none>'),
  ageColumn,
  wideColumn('Selector', 'Labels of the pods behind the service.', ({ spec }) => labelsText(spec?.selector)),
])

function externalAddress({ spec, status }: Loose<Service>): string {
  const external = spec?.externalIPs ?? []
  switch (spec?.type) {
    case 'ClusterIP':
    case 'NodePort':
      return external.join(',') || '<none>'
    case 'LoadBalancer': {
      const balancer = loadBalancerText(status?.loadBalancer)
      return [...(balancer === '' ? [] : [balancer]), ...external].join(',') || '<pending>'
    }
    case 'ExternalName':
      return spec.externalName ?? ''
    default:
      return '<unknown>'
  }
}

function portsText({ spec }: Loose<Service>): string {
  return (spec?.ports ?? [])
    .map(({ port, nodePort, protocol }) => `${port ?? 0}${nodePort ? `:${nodePort}` : ''}/${protocol ?? ''}`)
    .join(',')
}
