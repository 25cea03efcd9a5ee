import type { Pod, Service } from '@kubewright/k8s'
import { isPodTerminal } from '../workload/pod-state.ts'

type ServicePort = NonNullable<NonNullable<Service['spec']>['ports']>[number]

/** An address family, under the names that Services use. */
export type IpFamily = 'IPv4' | 'IPv6'

/** Whether controllers manage the endpoints of a service. Other services are managed by users, or resolved by DNS. */
export function isFilled({ spec }: Service): boolean {
  return spec?.selector !== undefined && spec.type !== 'ExternalName'
}

/** Whether the service has no cluster IP, so that clients address its pods directly. */
export function isHeadless({ spec }: Service): boolean {
  return (spec?.clusterIP ?? '') === '' || spec?.clusterIP === 'None'
}

/** Whether a selected pod has an address to publish. */
export function offersAddress(pod: Pod, evenTerminating: boolean): boolean {
  if (isPodTerminal(pod)) return false
  const { podIP = '', podIPs = [] } = pod.status ?? {}
  if (podIP === '' && podIPs.length === 0) return false
  return evenTerminating || pod.metadata.deletionTimestamp === undefined
}

/** The addresses of a pod in one address family. */
export function addressesIn(pod: Pod, family: IpFamily): string[] {
  return (pod.status?.podIPs ?? []).flatMap(({ ip = '' }) => (ipFamilyOf(ip) === family ? [ip] : []))
}

/** The address families of a service, preferred one first. */
export function familiesOf({ spec }: Service): readonly IpFamily[] {
  const families = (spec?.ipFamilies ?? []) as readonly IpFamily[]
  if (families.length > 0) return families
  const { clusterIP = '' } = spec ?? {}
  return clusterIP === '' || clusterIP === 'None' ? ['IPv4', 'IPv6'] : [ipFamilyOf(clusterIP)]
}

/** The family of an address. */
export function ipFamilyOf(ip: string): IpFamily {
  return ip.includes(':') ? 'IPv6' : 'IPv4'
}

/** The container port behind a service port; undefined when no container has a port of that name. */
export function targetPort(pod: Pod, { port, targetPort: target, protocol = 'TCP' }: ServicePort): number | undefined {
  if (typeof target !== 'string') return target === undefined || target === 0 ? port : target
  // Sidecar containers can serve too.
  const sidecars = (pod.spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always')
  for (const { ports = [] } of [...pod.spec.containers, ...sidecars]) {
    for (const { name, containerPort, protocol: offered = 'TCP' } of ports) {
      if (name === target && offered === protocol) return containerPort
    }
  }
  return undefined
}

/** The host name of a pod within the domain of the service; undefined when it has none. */
export function hostnameIn({ metadata, spec }: Pod, service: Service): string | undefined {
  const { hostname = '', subdomain } = spec
  const inDomain = subdomain === service.metadata.name && metadata.namespace === service.metadata.namespace
  return hostname !== '' && inDomain ? hostname : undefined
}
