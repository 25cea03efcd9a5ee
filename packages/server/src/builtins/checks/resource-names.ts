import { isQualifiedName } from '@kubewright/base'

const counted = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]
const quotaResources: ReadonlySet<string> = new Set([
  'cpu',
  'memory',
  'ephemeral-storage',
  'requests.cpu',
  'requests.memory',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  ...counted,
])
const integerResources: ReadonlySet<string> = new Set(counted)

export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-')
}

/** Resources of Kubernetes itself: without a domain, or below kubernetes.io. */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/')
}

/** Resources that others define, such as devices. */
export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false
  return isQualifiedName(`requests.${name}`).length === 0
}

/** Resources that are counted, not measured. */
export function isIntegerResource(name: string): boolean {
  return integerResources.has(name) || isExtendedResource(name)
}

/** Names without a domain that a quota may hold. */
export function isStandardQuotaResource(name: string): boolean {
  return quotaResources.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-')
}

/** Names without a domain that the system knows. */
export function isStandardResource(name: string): boolean {
  return name === 'storage' || isStandardQuotaResource(name)
}
