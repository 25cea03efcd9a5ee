import { formatLabelSelector } from '@kubewright/api'
import type { EndpointSlice, Ingress, IngressClass, IPAddress, NetworkPolicy, ServiceCIDR } from '@kubewright/k8s'
import type { TableDefinition } from '../../resource/table-definition.ts'
import { columnTexts } from '../column-texts.ts'
import { ageColumn, type Loose, nameColumn, printer, textColumn } from '../columns.ts'
import { ageOf, firstOf, loadBalancerText } from '../human.ts'
import { asSelector } from './loose-selector.ts'

/** Tables of the groups networking.k8s.io and discovery.k8s.io. */
export const networkingTables: Readonly<Record<string, TableDefinition>> = {
  'networking.k8s.io/ingresses': printer<Ingress>(
    [
      nameColumn,
      textColumn('Class', 'The name of the IngressClass resource that should be used for additional configuration'),
      textColumn('Hosts', 'Hosts that incoming requests are matched against before the ingress rule'),
      textColumn('Address', 'Address is a list containing ingress points for the load-balancer'),
      textColumn('Ports', 'Ports of TLS configurations that open'),
      ageColumn,
    ],
    (ingress, now) => [
      ingress.metadata?.name ?? '',
      ingress.spec?.ingressClassName ?? '<none>',
      hostsText(ingress),
      loadBalancerText(ingress.status?.loadBalancer),
      ingress.spec?.tls?.length ? '80, 443' : '80',
      ageOf(ingress.metadata?.creationTimestamp, now),
    ],
  ),
  'networking.k8s.io/ingressclasses': printer<IngressClass>(
    [
      nameColumn,
      textColumn('Controller', 'Controller that is responsible for handling this class'),
      textColumn('Parameters', 'A reference to a resource with additional parameters'),
      ageColumn,
    ],
    ({ metadata, spec }, now) => [
      metadata?.name ?? '',
      spec?.controller ?? '',
      parametersText(spec?.parameters),
      ageOf(metadata?.creationTimestamp, now),
    ],
  ),
  'networking.k8s.io/networkpolicies': printer<NetworkPolicy>(
    [nameColumn, textColumn('Pod-Selector', columnTexts['NetworkPolicySpec.podSelector']), ageColumn],
    ({ metadata, spec }, now) => [
      metadata?.name ?? '',
      formatLabelSelector(asSelector(spec?.podSelector ?? {})),
      ageOf(metadata?.creationTimestamp, now),
    ],
  ),
  'networking.k8s.io/servicecidrs': printer<ServiceCIDR>(
    [nameColumn, textColumn('CIDRs', columnTexts['ServiceCIDRSpec.cidrs']), ageColumn],
    ({ metadata, spec }, now) => [
      metadata?.name ?? '',
      (spec?.cidrs ?? []).join(','),
      ageOf(metadata?.creationTimestamp, now),
    ],
  ),
  'networking.k8s.io/ipaddresses': printer<IPAddress>(
    [nameColumn, textColumn('ParentRef', columnTexts['IPAddressSpec.parentRef'])],
    // The age has a cell and no column, in the real server as well.
    ({ metadata, spec }, now) => [
      metadata?.name ?? '',
      parentText(spec?.parentRef),
      ageOf(metadata?.creationTimestamp, now),
    ],
  ),
  'discovery.k8s.io/endpointslices': printer<EndpointSlice>(
    [
      nameColumn,
      textColumn('AddressType', columnTexts['EndpointSlice.addressType']),
      textColumn('Ports', columnTexts['EndpointSlice.ports']),
      textColumn('Endpoints', columnTexts['EndpointSlice.endpoints']),
      ageColumn,
    ],
    ({ metadata, addressType, ports, endpoints }, now) => [
      metadata?.name ?? '',
      addressType ?? '',
      firstOf(
        (ports ?? []).map(({ port, name }) => String(port ?? name ?? '*')),
        3,
      ) || '<unset>',
      firstOf(
        (endpoints ?? []).flatMap(({ addresses }) => addresses ?? []),
        3,
      ) || '<unset>',
      ageOf(metadata?.creationTimestamp, now),
    ],
  ),
}

/** Three hosts at most. The number of the others counts rules, those without a host included. */
function hostsText({ spec }: Loose<Ingress>): string {
  const rules = spec?.rules ?? []
  const hosts: string[] = []
  let more = false
  for (const { host } of rules) {
    if (hosts.length === 3) more = true
    else if (host) hosts.push(host)
  }
  if (hosts.length === 0) return '*'
  return more ? `${hosts.join(',')} + ${rules.length - 3} more...` : hosts.join(',')
}

function parametersText(parameters: Loose<IngressClass['spec']['parameters']> | null | undefined): string {
  if (!parameters) return '<none>'
  const { kind, apiGroup, name } = parameters
  return `${kind ?? ''}${typeof apiGroup === 'string' ? `.${apiGroup}` : ''}/${name ?? ''}`
}

function parentText(parent: Loose<IPAddress['spec']['parentRef']> | null | undefined): string {
  if (!parent) return '<none>'
  const { group, resource, namespace, name } = parent
  const what = `${resource ?? ''}${group ? `.${group}` : ''}`.toLowerCase()
  return `${what}${namespace ? `/${namespace}` : ''}/${name ?? ''}`
}
