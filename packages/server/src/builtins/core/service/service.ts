import { append, deepCopy, every, nameIsDNS1035Label, nullLogger, onAbort } from '@kubewright/base'
import { FieldPath } from '@kubewright/schema'
import { StorageError } from '@kubewright/storage'
import { withConnectAdmission } from '../../../admission/connect-admission.ts'
import type { ObjectAccess } from '../../../registry/object-access.ts'
import type { MutableObject } from '../../../resource/object.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import type { Strategy, Undo } from '../../../resource/strategy.ts'
import { cidrWarnings, ipWarnings } from '../../checks/ip-warnings.ts'
import { type BuiltinDefinition, type BuiltinServer, defineBuiltin } from '../../define-builtin.ts'
import { proxyOptions } from '../../subresources/proxy-options.ts'
import { defaultService } from './default-service.ts'
import { fillIpFamilies, normalizeClusterIps } from './ip-family-fields.ts'
import { type Reservation, ServiceAllocator } from './service-allocator.ts'
import { ServiceClaims } from './service-claims.ts'
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
  const { registry, random, serviceRanges: ranges, clock, log = nullLogger } = server
  const { store } = registry
  const claims = store.shared ? new ServiceClaims({ store, clock, log }) : undefined
  const allocator = new ServiceAllocator({ store, prefix: `/registry/${storagePath}`, random, ranges, claims })
  if (claims) repairRegularly(allocator, server)
  const begin = reservationsOf(allocator)
  return {
    validateName: nameIsDNS1035Label,
    allowCreateOnUpdate: true,
    returnDeletedObject: true,
    metadataOnUpdate: ['create'],
    setDefaults: defaultService,
    beginCreate: (created, { dryRun }) =>
      begin(created, dryRun, (service, reservation) => {
        const spec = serviceSpecOf(service)
        normalizeClusterIps(spec, undefined)
        fillIpFamilies(service, undefined)
        if (needsClusterIp(spec) && !isHeadless(spec)) allocator.allocateIps(service, reservation, dryRun)
        if (needsNodePort(spec)) allocator.allocatePorts(service, reservation, dryRun)
        if (needsHealthCheck(spec)) allocator.allocateHealthCheckPort(spec, reservation, dryRun)
      }),
    beginUpdate: (updated, old, { dryRun }) =>
      begin(updated, dryRun, (service, reservation) => {
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
    afterUpdate: (service, old) => allocator.release(old, service),
    afterDelete: async (service) => {
      await allocator.release(service)
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

/** Milliseconds between two repairs of the claims. */
const repairPeriod = 60_000

/** Repairs the claims of a shared store until the server stops. */
function repairRegularly(allocator: ServiceAllocator, { clock, log = nullLogger, signal }: BuiltinServer): void {
  const repair = (): void =>
    void allocator.repair().catch((error: unknown) => log.error(error, 'Failed to repair the allocations of services'))
  const timer = every(clock, repairPeriod, repair, 'allocations of services')
  onAbort(signal, () => timer.cancel())
}

type Reserve = (service: MutableObject, reservation: Reservation) => void

/**
 * Returns the function that runs `reserve` on a service, makes its reservations final among all servers and returns their undo. It runs
 * `reserve` again, on the unchanged service, when another server was first.
 */
function reservationsOf(allocator: ServiceAllocator) {
  const reserved = (service: MutableObject, reserve: Reserve): Reservation => {
    const reservation: Reservation = { ips: new Set(), ports: new Set() }
    try {
      reserve(service, reservation)
    } catch (error) {
      allocator.undo(reservation)
      throw error
    }
    return reservation
  }
  return async (service: MutableObject, dryRun: boolean, reserve: Reserve): Promise<Undo> => {
    await allocator.ready()
    if (dryRun) {
      reserve(service, { ips: new Set(), ports: new Set() })
      return async () => undefined
    }
    if (!allocator.isShared) {
      const reservation = reserved(service, reserve)
      return async (error) => void (isUncertain(error) || allocator.undo(reservation))
    }
    const owner = service.metadata.uid ?? ''
    for (let isFresh = false; ; ) {
      const draft = deepCopy(service)
      let reservation: Reservation
      try {
        reservation = reserved(draft, reserve)
      } catch (error) {
        // Another server may have released the number since this server read the allocations.
        if (isFresh) throw error
        isFresh = true
        await allocator.refresh()
        continue
      }
      if (!(await allocator.claim(reservation, owner))) continue
      Object.assign(service, draft)
      return async (error) => {
        // The service may be stored, now or later: the repair releases its numbers if it is not.
        if (isUncertain(error)) return
        allocator.undo(reservation)
        await allocator.unclaim(reservation, owner)
      }
    }
  }
}

/** Whether a write failed that may have been made, or may still be. */
function isUncertain(error: unknown): boolean {
  return error instanceof StorageError && error.code === 'KW_STORAGE_UNCERTAIN'
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
    if (!semanticEqual(status.loadBalancer ?? {}, {})) status.loadBalancer = {}
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
