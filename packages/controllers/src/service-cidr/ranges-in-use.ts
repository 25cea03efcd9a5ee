import { IPPrefix, parseIPSloppy } from '@kubewright/base'
import type { IPAddress, ServiceCIDR } from '@kubewright/k8s'

const managedBy = 'ipaddress.kubernetes.io/managed-by'

const prefixesOf = ({ spec }: ServiceCIDR): IPPrefix[] =>
  (spec?.cidrs ?? []).map((text) => IPPrefix.parse(text).masked())

/**
 * Whether the deletion of a range would leave an address of a Service without a range. Ranges that are being deleted do not
 * count, except for the range itself. As canDeleteCIDR in pkg/controller/servicecidrs.
 */
export function isInUse(range: ServiceCIDR, all: readonly ServiceCIDR[], addresses: readonly IPAddress[]): boolean {
  const others = all
    .filter(({ metadata }) => metadata.name !== range.metadata.name && metadata.deletionTimestamp === undefined)
    .flatMap(prefixesOf)
  const own = prefixesOf(range)
  const isContained = (prefix: IPPrefix): boolean =>
    others.some((other) => other.bits <= prefix.bits && other.contains(prefix.address))
  if (own.every(isContained)) return false
  return addresses.some(({ metadata }) => {
    if (metadata.labels?.[managedBy] !== 'ipallocator.k8s.io') return false
    const address = parseIPSloppy(metadata.name)
    if (address === undefined || !own.some((prefix) => prefix.contains(address))) return false
    return !others.some((prefix) => prefix.contains(address))
  })
}
