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

/** Whether a resource is memory in huge pages of some size. */
export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-')
}

/** Whether Kubernetes itself defines the resource: its name has no domain, or one under kubernetes.io. */
export function isNativeResource(name: string): boolean {
  return !name.includes('/') || name.includes('kubernetes.io/')
}

/** Whether the resource is an extended one, such as a device. */
export function isExtendedResource(name: string): boolean {
  if (isNativeResource(name) || name.startsWith('requests.')) return false
  return isQualifiedName(`requests.${name}`).length === 0
}

/** Whether amounts of the resource must be integers. */
export function isIntegerResource(name: string): boolean {
  return integerResources.has(name) || isExtendedResource(name)
}

/** Whether a quota may limit the resource; for names without a domain. */
export function isStandardQuotaResource(name: string): boolean {
  return quotaResources.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-')
}

/** Whether Kubernetes defines a resource of this name; for names without a domain. */
export function isStandardResource(name: string): boolean {
  return name === 'storage' || isStandardQuotaResource(name)
}
