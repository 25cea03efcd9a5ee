import { append, deepEqual, nameIsDNS1035Label } from '@kubewright/base'
import { FieldPath } from '@kubewright/schema'
import { withConnectAdmission } from '../../../admission/connect-admission.ts'
import type { ObjectAccess } from '../../../registry/object-access.ts'
import type { MutableObject } from '../../../resource/object.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import type { Strategy } from '../../../resource/strategy.ts'
import { cidrWarnings, ipWarnings } from '../../checks/ip-warnings.ts'
import { type BuiltinDefinition, type BuiltinServer, defineBuiltin } from '../../define-builtin.ts'
import { proxyOptions } from '../../subresources/proxy-options.ts'
import { defaultService } from './default-service.ts'
import { fillIpFamilies, normalizeClusterIps } from './ip-family-fields.ts'
import { type Reservation, ServiceAllocator } from './service-allocator.ts'
import { serviceProxySubresource } from './service-proxy.ts'
import { serviceTable } from './service-table.ts'
import {
  allocatesNodePorts,
  isExternallyAccessible,
  isHeadless,
  needsClusterIp,
  needsHealthCheck,
  type ServiceSpec,
  type ServiceStatus,
  sameList,
  serviceSpecOf,
} from './service-types.ts'
import { validateService, validateServiceStatus, validateServiceUpdate } from './validate-service.ts'

const specPath = FieldPath.of('spec')
const storagePath = 'services/specs/'
const hintsKey = 'service.kubernetes.io/topology-aware-hints'
const modeKey = 'service.kubernetes.io/topology-mode'

/** Services (pkg/registry/core/service). The server allocates their cluster IPs and node ports. */
export const services: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'services',
  table: serviceTable,
  storagePath,
  selectableFields: {
    'spec.clusterIP': (service) => serviceSpecOf(service).clusterIP ?? '',
    'spec.type': (service) => serviceSpecOf(service).type ?? '',
  },
  unknownField: (label) => `field label not supported: ${label}`,
  withServer: (server) => {
    const { strategy, subresources } = withStatus(serviceStrategy(server), {
      validateUpdate: validateServiceStatus,
      warningsOnUpdate: statusWarnings,
      createsMissing: 'always',
    })
    const proxy = serviceProxySubresource(server)
    return {
      strategy,
      subresources: {
        ...subresources,
        proxy: withConnectAdmission(server.admission, 'proxy', proxyOptions('Service'), proxy),
      },
    }
  },
})

function serviceStrategy(server: BuiltinServer): Strategy {
  const { registry, random, serviceRanges: ranges } = server
  const prefix = `/registry/${storagePath}`
  const allocator = new ServiceAllocator({ store: registry.store, prefix, random, ...(ranges ? { ranges } : {}) })
  // Runs `reserve` and returns the function that releases its reservations, for the case that the write fails.
  const begin = async (dryRun: boolean, reserve: (reservation: Reservation) => void): Promise<() => Promise<void>> => {
    await allocator.ready()
    const reservation: Reservation = { ips: new Set(), ports: new Set() }
    const undo = async (): Promise<void> => {
      if (!dryRun) allocator.undo(reservation)
    }
    try {
      reserve(reservation)
    } catch (error) {
      await undo()
      throw error
    }
    return undo
  }
  return {
    validateName: nameIsDNS1035Label,
    allowCreateOnUpdate: true,
    returnDeletedObject: true,
    metadataOnUpdate: ['create'],
    setDefaults: defaultService,
    beginCreate: (service, { dryRun }) =>
      begin(dryRun, (reservation) => {
        const spec = serviceSpecOf(service)
        normalizeClusterIps(spec, undefined)
        fillIpFamilies(service, undefined)
        if (needsClusterIp(spec) && !isHeadless(spec)) allocator.allocateIps(service, reservation, dryRun)
        if (needsNodePort(spec)) allocator.allocatePorts(service, reservation, dryRun)
        if (needsHealthCheck(spec)) allocator.allocateHealthCheckPort(spec, reservation, dryRun)
      }),
    beginUpdate: (service, old, { dryRun }) =>
      begin(dryRun, (reservation) => {
        const spec = serviceSpecOf(service)
        const before = serviceSpecOf(old)
        keepAllocated(spec, before)
        normalizeClusterIps(spec, before)
        fillIpFamilies(service, before)
        const gainsIp = !needsClusterIp(before) && needsClusterIp(spec) && !isHeadless(spec)
        if (gainsIp) allocator.allocateIps(service, reservation, dryRun)
        if (needsNodePort(spec)) allocator.updatePorts(service, before, reservation, dryRun)
        if (needsHealthCheck(spec) && !needsHealthCheck(before)) {
          allocator.allocateHealthCheckPort(spec, reservation, dryRun)
        }
      }),
    afterUpdate: (service, old) => allocator.release(serviceSpecOf(old), serviceSpecOf(service)),
    afterDelete: async (service) => {
      allocator.release(serviceSpecOf(service))
      await deleteEndpoints(server, service)
    },
    prepareForCreate: dropInternalPolicy,
    prepareForUpdate: dropTypeDependent,
    validate: (service) => validateService(service),
    validateUpdate: validateServiceUpdate,
    warningsOnCreate: warnings,
    warningsOnUpdate: warnings,
  }
}

/** Deletes the Endpoints with the name of a deleted service. */
async function deleteEndpoints({ registry, resources }: ObjectAccess, { metadata }: MutableObject): Promise<void> {
  const endpoints = resources.find('', 'v1', 'endpoints')
  if (!endpoints) return
  const existing = await registry.find(endpoints, metadata.namespace ?? '', metadata.name ?? '')
  if (existing) await registry.store.delete(existing.key, existing.revision)
}

function needsNodePort({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer'
}

/** Restores allocated addresses and ports that an update leaves out. */
function keepAllocated(spec: ServiceSpec, old: ServiceSpec): void {
  if (needsClusterIp(old) && needsClusterIp(spec)) {
    if (!spec.clusterIP && old.clusterIP) spec.clusterIP = old.clusterIP
    if ((spec.clusterIPs ?? []).length === 0 && old.clusterIPs) spec.clusterIPs = [...old.clusterIPs]
  }
  if (allocatesNodePorts(old) && allocatesNodePorts(spec)) {
    const given = new Set((spec.ports ?? []).map(({ nodePort }) => nodePort))
    const byName = new Map((old.ports ?? []).map(({ name, nodePort }) => [name ?? '', nodePort]))
    for (const port of spec.ports ?? []) {
      const before = byName.get(port.name ?? '')
      if (!port.nodePort && before && !given.has(before)) port.nodePort = before
    }
  }
  if (needsHealthCheck(old) && needsHealthCheck(spec)) spec.healthCheckNodePort ||= old.healthCheckNodePort
}

/** Drops the internal traffic policy of a service of type ExternalName. */
function dropInternalPolicy(service: MutableObject): void {
  const spec = serviceSpecOf(service)
  if (spec.type === 'ExternalName') delete spec.internalTrafficPolicy
}

/** Drops fields that only the old type of a service has, unless the client changed them too. */
function dropTypeDependent(service: MutableObject, old: MutableObject): void {
  dropInternalPolicy(service)
  const spec = serviceSpecOf(service)
  const before = serviceSpecOf(old)
  if (needsClusterIp(before) && !needsClusterIp(spec)) {
    if (spec.clusterIP === before.clusterIP && sameList(spec.clusterIPs, before.clusterIPs)) {
      delete spec.clusterIP
      delete spec.clusterIPs
    }
    if (sameList(spec.ipFamilies, before.ipFamilies)) delete spec.ipFamilies
    if (spec.ipFamilyPolicy === before.ipFamilyPolicy) delete spec.ipFamilyPolicy
  }
  if (needsNodePort(before) && !needsNodePort(spec)) {
    const known = new Set((before.ports ?? []).map(({ nodePort }) => nodePort))
    const same = (spec.ports ?? []).every(({ nodePort }) => !nodePort || known.has(nodePort))
    if (same) for (const port of spec.ports ?? []) delete port.nodePort
  }
  if (needsHealthCheck(before) && !needsHealthCheck(spec) && spec.healthCheckNodePort === before.healthCheckNodePort) {
    delete spec.healthCheckNodePort
  }
  if (before.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    if (spec.allocateLoadBalancerNodePorts === before.allocateLoadBalancerNodePorts) {
      delete spec.allocateLoadBalancerNodePorts
    }
    if (spec.loadBalancerClass === before.loadBalancerClass) delete spec.loadBalancerClass
  }
  if (isExternallyAccessible(before) && !isExternallyAccessible(spec)) {
    if (spec.externalTrafficPolicy === before.externalTrafficPolicy) delete spec.externalTrafficPolicy
  }
  if (spec.type !== 'LoadBalancer') {
    const status = (service['status'] ??= {}) as ServiceStatus
    if (!deepEqual(status.loadBalancer ?? {}, {})) status.loadBalancer = {}
  }
}

function warnings(service: MutableObject): string[] {
  const spec = serviceSpecOf(service)
  const found: string[] = []
  if (service.metadata.annotations?.[hintsKey] !== undefined) {
    found.push(`annotation ${hintsKey} is deprecated, please use ${modeKey} instead`)
  }
  const headless = spec.type === 'ClusterIP' && spec.clusterIP === 'None'
  if (spec.clusterIP && spec.clusterIP !== 'None') {
    for (const [i, ip] of (spec.clusterIPs ?? []).entries()) {
      append(found, ipWarnings(specPath.child('clusterIPs').index(i), ip))
    }
  }
  if (headless) {
    if (spec.loadBalancerIP) found.push('spec.loadBalancerIP is ignored for headless services')
    if ((spec.externalIPs ?? []).length > 0) found.push('spec.externalIPs is ignored for headless services')
    if (spec.sessionAffinity !== 'None') found.push('spec.SessionAffinity is ignored for headless services')
  }
  for (const [i, ip] of (spec.externalIPs ?? []).entries()) {
    append(found, ipWarnings(specPath.child('externalIPs').index(i), ip))
  }
  if (spec.loadBalancerIP) append(found, ipWarnings(specPath.child('loadBalancerIP'), spec.loadBalancerIP))
  for (const [i, range] of (spec.loadBalancerSourceRanges ?? []).entries()) {
    append(found, cidrWarnings(specPath.child('loadBalancerSourceRanges').index(i), range))
  }
  if (spec.type === 'ExternalName' && (spec.externalIPs ?? []).length > 0) {
    found.push('spec.externalIPs is ignored when spec.type is "ExternalName"')
  }
  if (spec.type !== 'ExternalName' && spec.externalName) {
    found.push('spec.externalName is ignored when spec.type is not "ExternalName"')
  }
  if (spec.trafficDistribution === 'PreferClose') {
    found.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
  }
  return found
}

function statusWarnings(service: MutableObject): string[] {
  const ingress = (service['status'] as ServiceStatus | undefined)?.loadBalancer?.ingress ?? []
  return ingress.flatMap(({ ip }, i) =>
    ip ? ipWarnings(FieldPath.of('status', 'loadBalancer', 'ingress').index(i), ip) : [],
  )
}
