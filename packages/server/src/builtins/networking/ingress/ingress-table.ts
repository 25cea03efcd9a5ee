import type { Ingress } from '@kubewright/k8s'
import type { TableDefinition } from '../../../resource/table-definition.ts'
import { ageColumn, defineTable, type Loose, nameColumn, textColumn } from '../../../table/columns.ts'
import { loadBalancerText } from '../../../table/human.ts'

/** The columns of Ingresses. */
export const ingressTable: TableDefinition = defineTable<Ingress>([
  nameColumn,
  textColumn('Class', 'Name of the ingress class.', ({ spec }) => spec?.ingressClassName ?? '<none>'),
  textColumn('Hosts', 'Hosts that the rules match.', hostsText),
  textColumn('Address', 'Addresses of the load balancer.', ({ status }) => loadBalancerText(status?.loadBalancer)),
  textColumn('Ports', 'Ports that are open: 443 with TLS.', ({ spec }) => (spec?.tls?.length ? '80, 443' : '80')),
  ageColumn,
])

/** Shows at most three hosts. As in kube-apiserver, the number of further ones counts rules, including those without a host. */
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
