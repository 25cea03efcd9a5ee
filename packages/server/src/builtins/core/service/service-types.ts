import type * as core from '@kubewright/k8s/core/v1'
import type { MutableObject } from '../../../resource/object.ts'
import type { Unchecked } from '../../typed/unchecked.ts'

/** The spec of a service as a client sends it. */
export type ServiceSpec = Unchecked<core.ServiceSpec>
export type ServicePort = NonNullable<ServiceSpec['ports']>[number]
export type ServiceStatus = Unchecked<core.ServiceStatus>

export function serviceSpecOf(service: MutableObject): ServiceSpec {
  return (service['spec'] ??= {}) as ServiceSpec
}

/** A service without an address of its own. */
export function isHeadless({ clusterIPs }: ServiceSpec): boolean {
  return clusterIPs?.length === 1 && clusterIPs[0] === 'None'
}

/** Whether traffic from outside of the cluster can reach the service. */
export function isExternallyAccessible(spec: ServiceSpec): boolean {
  return (
    spec.type === 'LoadBalancer' ||
    spec.type === 'NodePort' ||
    (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0)
  )
}

/** Whether load balancers ask nodes for the service's health. */
export function needsHealthCheck(spec: ServiceSpec): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
}

export function needsClusterIp(spec: ServiceSpec): boolean {
  return spec.type !== 'ExternalName'
}

export function sameList(a: readonly unknown[] = [], b: readonly unknown[] = []): boolean {
  return a.length === b.length && a.every((value, i) => value === b[i])
}

/** Sets a field, or removes it when there is nothing to set. */
export function setField<K extends keyof ServiceSpec>(spec: ServiceSpec, field: K, value: ServiceSpec[K]): void {
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) delete spec[field]
  else spec[field] = value
}
