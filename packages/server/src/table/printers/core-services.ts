import type { Endpoints, Service } from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { columnTexts } from '../column-texts.ts'
import { ageColumn, type Loose, nameColumn, printer, textColumn, wideColumn } from '../columns.ts'
import { ageOf, firstOf, labelsText, loadBalancerText } from '../human.ts'

/** Tables of services and their endpoints. */
export const serviceTables: Readonly<Record<string, TableDefinition>> = {
  '/services': printer<Service>(
    [
      nameColumn,
      textColumn('Type', columnTexts['ServiceSpec.type']),
      textColumn('Cluster-IP', columnTexts['ServiceSpec.clusterIP']),
      textColumn('External-IP', columnTexts['ServiceSpec.externalIPs']),
      textColumn('Port(s)', columnTexts['ServiceSpec.ports']),
      ageColumn,
      wideColumn('Selector', columnTexts['ServiceSpec.selector']),
    ],
    (service, now) => [
      service.metadata?.name ?? '',
      service.spec?.type ?? '',
      service.spec?.clusterIPs?.[0] ?? (service.spec?.clusterIP || '<none>'),
      externalAddress(service),
      portsText(service) || '<none>',
      ageOf(service.metadata?.creationTimestamp, now),
      labelsText(service.spec?.selector),
    ],
  ),
  '/endpoints': printer<Endpoints>(
    [nameColumn, textColumn('Endpoints', columnTexts['Endpoints.subsets']), ageColumn],
    (endpoints, now) => [
      endpoints.metadata?.name ?? '',
      addressesText(endpoints),
      ageOf(endpoints.metadata?.creationTimestamp, now),
    ],
  ),
}

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

function addressesText({ subsets }: Loose<Endpoints>): string {
  if (!subsets?.length) return '<none>'
  const found: string[] = []
  for (const { addresses, ports } of subsets) {
    const ips = (addresses ?? []).map(({ ip }) => ip ?? '')
    // A headless service need not have ports.
    if (!ports?.length) found.push(...ips)
    for (const { port } of ports ?? []) found.push(...ips.map((ip) => hostPort(ip, port ?? 0)))
  }
  return firstOf(found, 3)
}

/** An IPv6 address stands in brackets, so that its colons are not taken for the port's. */
function hostPort(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`
}
