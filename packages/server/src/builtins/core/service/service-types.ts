import type * as core from '@kubewright/k8s/core/v1'
import type { MutableObject } from '../../../resource/object.ts'
import type { Unchecked } from '../../typed/unchecked.ts'

/** The spec of a service as a client sends it. */
export type ServiceSpec = Unchecked<core.ServiceSpec>
/** A port of a service as a client sends it. */
export type ServicePort = NonNullable<ServiceSpec['ports']>[number]
/** The status of a service as a client sends it. */
export type ServiceStatus = Unchecked<core.ServiceStatus>

/** The spec of a service. Adds an empty one if it is missing, so that the caller can change it. */
export function serviceSpecOf(service: MutableObject): ServiceSpec {
  return (service['spec'] ??= {}) as ServiceSpec
}

/** Whether a service has no cluster IP. */
export function isHeadless({ clusterIPs }: ServiceSpec): boolean {
  return clusterIPs?.length === 1 && clusterIPs[0] === 'None'
}

/** Whether the service accepts traffic from outside the cluster. */
export function isExternallyAccessible(spec: ServiceSpec): boolean {
  return (
    spec.type === 'LoadBalancer' ||
    spec.type === 'NodePort' ||
    (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0)
  )
}

/** Whether the server allocates node ports for the service. */
export function allocatesNodePorts({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean {
  return type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false)
}

/** Whether load balancers check the health of the service on each node. */
export function needsHealthCheck(spec: ServiceSpec): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
}

/** Whether a service of this type has a cluster IP, or `None` instead of one. */
export function needsClusterIp(spec: ServiceSpec): boolean {
  return spec.type !== 'ExternalName'
}

/** Whether two lists have the same items in the same order. A missing list counts as empty. */
export function sameList(a: readonly unknown[] = [], b: readonly unknown[] = []): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i])
}

/** Sets a field, or removes it if the value is empty. */
export function setField<K extends keyof ServiceSpec>(spec: ServiceSpec, field: K, value: ServiceSpec[K]): void {
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) delete spec[field]
  else spec[field] = value
}
