import { append, isValidPortNum, parseCIDRSloppy } from '@kubewright/base'
import { duplicate, type FieldError, FieldPath, forbidden, invalid, required, validateLabels } from '@kubewright/schema'
import { goShown } from '../../../codec/json/go-value.ts'
import type { MutableObject } from '../../../resource/object.ts'
import { addInvalid, checkEnum, checkLabel, checkQualifiedName, checkSubdomain } from '../../checks/field-checks.ts'
import { checkLegacyIp } from '../../checks/ip-checks.ts'
import { checkEndpointIp } from '../endpoints/endpoints.ts'
import { checkPort } from '../pod/validation/containers/validate-probe.ts'
import {
  isExternallyAccessible,
  isHeadless,
  needsHealthCheck,
  type ServicePort,
  type ServiceSpec,
  type ServiceStatus,
  serviceSpecOf,
} from './service-types.ts'
import { validateClusterIps, validateClusterIpsUpdate, validateIpFamiliesUpdate } from './validate-cluster-ips.ts'

const specPath = FieldPath.of('spec')
const portsPath = specPath.child('ports')
const annotationsPath = FieldPath.of('metadata', 'annotations')
const hintsKey = 'service.kubernetes.io/topology-aware-hints'
const modeKey = 'service.kubernetes.io/topology-mode'
const rangesKey = 'service.beta.kubernetes.io/load-balancer-source-ranges'
const onlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'"
const maxAffinitySeconds = 86400

/** Checks a service. Values of `old` that are invalid by today's rules may stay. */
export function validateService(service: MutableObject, old?: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const spec = serviceSpecOf(service)
  const before = old && serviceSpecOf(old)
  const { [hintsKey]: hints, [modeKey]: mode } = service.metadata.annotations ?? {}
  if (hints !== undefined && mode !== undefined && hints !== mode) {
    const text = `must match annotations[${hintsKey}] when both are specified`
    errors.push(invalid(annotationsPath.key(modeKey), mode, text))
  }
  validateByType(spec, errors)
  validatePorts(spec, errors)
  if (spec.selector) {
    append(errors, validateLabels(spec.selector as Record<string, string>, specPath.child('selector')))
  }
  checkEnum(errors, specPath.child('sessionAffinity'), spec.sessionAffinity, ['ClientIP', 'None'], true)
  validateAffinity(spec, specPath.child('sessionAffinityConfig'), errors)
  validateClusterIps(spec, before, errors)
  const knownIps = new Set(before?.externalIPs)
  for (const [i, ip] of (spec.externalIPs ?? []).entries()) {
    const at = specPath.child('externalIPs').index(i)
    const count = errors.length
    if (!knownIps.has(ip)) checkLegacyIp(errors, at, ip)
    if (errors.length === count) checkEndpointIp(errors, at, ip)
  }
  const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
  checkEnum(errors, specPath.child('type'), spec.type, types, true)
  validateNodePorts(spec, errors)
  validateSourceRanges(service, old, spec, errors)
  if (spec.allocateLoadBalancerNodePorts !== undefined && spec.type !== 'LoadBalancer') {
    errors.push(forbidden(specPath.child('allocateLoadBalancerNodePorts'), onlyLoadBalancer))
  }
  if (spec.allocateLoadBalancerNodePorts === undefined && spec.type === 'LoadBalancer') {
    errors.push(required(FieldPath.of('allocateLoadBalancerNodePorts')))
  }
  validateClass(spec, undefined, errors)
  validateTraffic(spec, errors)
  return errors
}

/** Checks that an update changes no immutable field, then checks the service. */
export function validateServiceUpdate(service: MutableObject, old: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const spec = serviceSpecOf(service)
  const before = serviceSpecOf(old)
  validateClusterIpsUpdate(spec, before, errors)
  validateIpFamiliesUpdate(spec, before, errors)
  validateClass(spec, before, errors)
  if (needsHealthCheck(before) && needsHealthCheck(spec)) {
    if ((spec.healthCheckNodePort ?? 0) !== (before.healthCheckNodePort ?? 0)) {
      errors.push(forbidden(specPath.child('healthCheckNodePort'), 'field is immutable'))
    }
  }
  return [...errors, ...validateService(service, old)]
}

function validateByType(spec: ServiceSpec, errors: FieldError[]): void {
  const { type } = spec
  if ((spec.ports ?? []).length === 0 && !isHeadless(spec) && type !== 'ExternalName') errors.push(required(portsPath))
  if (type === 'LoadBalancer' || type === 'NodePort') {
    if (!isHeadless(spec)) return
    const text = `may not be set to 'None' for ${type} services`
    errors.push(invalid(specPath.child('clusterIPs').index(0), spec.clusterIPs?.[0], text))
  } else if (type === 'ExternalName') {
    const text = 'may not be set for ExternalName services'
    if ((spec.clusterIPs ?? []).length > 0) errors.push(forbidden(specPath.child('clusterIPs'), text))
    if ((spec.ipFamilies ?? []).length > 0) errors.push(forbidden(specPath.child('ipFamilies'), text))
    if (spec.ipFamilyPolicy !== undefined) errors.push(forbidden(specPath.child('ipFamilyPolicy'), text))
    const name = (spec.externalName ?? '').replace(/\.$/, '')
    if (name === '') errors.push(required(specPath.child('externalName')))
    else checkSubdomain(errors, specPath.child('externalName'), name)
  }
}

function validatePorts(spec: ServiceSpec, errors: FieldError[]): void {
  const ports = spec.ports ?? []
  const names = new Set<string>()
  for (const [i, port] of ports.entries()) {
    const at = portsPath.index(i)
    const { name, port: number = 0, protocol, targetPort, appProtocol } = port
    if (name) {
      checkLabel(errors, at.child('name'), name)
      if (names.has(name)) errors.push(duplicate(at.child('name'), name))
      names.add(name)
    } else if (ports.length > 1) errors.push(required(at.child('name')))
    addInvalid(errors, at.child('port'), number, isValidPortNum(number))
    checkEnum(errors, at.child('protocol'), protocol, ['SCTP', 'TCP', 'UDP'], true)
    checkPort(errors, at.child('targetPort'), targetPort)
    if (appProtocol !== undefined) checkQualifiedName(errors, at.child('appProtocol'), appProtocol)
  }
}

function validateNodePorts(spec: ServiceSpec, errors: FieldError[]): void {
  const ports = spec.ports ?? []
  if (spec.type === 'ClusterIP') {
    for (const [i, { nodePort }] of ports.entries()) {
      if (!nodePort) continue
      errors.push(forbidden(portsPath.index(i).child('nodePort'), "may not be used when `type` is 'ClusterIP'"))
    }
  }
  const nodePorts = new Set<string>()
  for (const [i, { nodePort, protocol }] of ports.entries()) {
    if (!nodePort) continue
    const key = `${protocol}/${nodePort}`
    if (nodePorts.has(key)) errors.push(duplicate(portsPath.index(i).child('nodePort'), nodePort))
    nodePorts.add(key)
  }
  const numbers = new Set<string>()
  for (const [i, { port, protocol }] of ports.entries()) {
    const key = `${protocol}/${port}`
    const shown: ServicePort = { port, protocol }
    if (numbers.has(key)) errors.push(duplicate(portsPath.index(i), goShown('ServicePort', shown)))
    numbers.add(key)
  }
}

function validateAffinity(spec: ServiceSpec, path: FieldPath, errors: FieldError[]): void {
  const config = spec.sessionAffinityConfig
  if (spec.sessionAffinity === 'None') {
    if (config) errors.push(forbidden(path, 'must not be set when session affinity is None'))
  } else if (spec.sessionAffinity === 'ClientIP') {
    const text = 'when session affinity type is ClientIP'
    const seconds = config?.clientIP?.timeoutSeconds
    if (!config) errors.push(required(path, text))
    else if (!config.clientIP) errors.push(required(path.child('clientIP'), text))
    else if (seconds === undefined) errors.push(required(path.child('clientIP', 'timeoutSeconds'), text))
    else if (seconds <= 0 || seconds > maxAffinitySeconds) {
      const wrong = `must be greater than 0 and less than ${maxAffinitySeconds}`
      errors.push(invalid(path.child('clientIP', 'timeoutSeconds'), seconds, wrong))
    }
  }
}

function checkRange(errors: FieldError[], path: FieldPath, range: string): void {
  if (parseCIDRSloppy(range)) return
  errors.push(invalid(path, range, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'))
}

/** Checks the source ranges in the field, or in the deprecated annotation. */
function validateSourceRanges(
  service: MutableObject,
  old: MutableObject | undefined,
  spec: ServiceSpec,
  errors: FieldError[],
): void {
  const ranges = spec.loadBalancerSourceRanges ?? []
  const annotation = service.metadata.annotations?.[rangesKey]
  if (ranges.length > 0) {
    const at = specPath.child('LoadBalancerSourceRanges')
    if (spec.type !== 'LoadBalancer') errors.push(forbidden(at, onlyLoadBalancer))
    const before = old ? (serviceSpecOf(old).loadBalancerSourceRanges ?? []) : []
    const known = new Set(before.map((range) => range.trim()))
    for (const [i, range] of ranges.entries()) {
      if (!known.has(range.trim())) checkRange(errors, at.index(i), range.trim())
    }
  } else if (annotation !== undefined) {
    const at = annotationsPath.key(rangesKey)
    if (spec.type !== 'LoadBalancer') errors.push(forbidden(at, onlyLoadBalancer))
    if (old?.metadata.annotations?.[rangesKey] === annotation || annotation.trim() === '') return
    for (const range of annotation.trim().split(',')) checkRange(errors, at, range.trim())
  }
}

function validateClass(spec: ServiceSpec, before: ServiceSpec | undefined, errors: FieldError[]): void {
  const at = specPath.child('loadBalancerClass')
  const { type, loadBalancerClass: name } = spec
  if (before?.type === 'LoadBalancer' && type === 'LoadBalancer' && before.loadBalancerClass !== name) {
    errors.push(invalid(at, name ?? null, 'may not change once set'))
  }
  if (name === undefined) return
  if (type === 'LoadBalancer') checkQualifiedName(errors, at, name)
  else errors.push(forbidden(at, onlyLoadBalancer))
}

function validateTraffic(spec: ServiceSpec, errors: FieldError[]): void {
  const external = specPath.child('externalTrafficPolicy')
  if (isExternallyAccessible(spec)) {
    checkEnum(errors, external, spec.externalTrafficPolicy, ['Cluster', 'Local'], true)
  } else if (spec.externalTrafficPolicy) {
    errors.push(invalid(external, spec.externalTrafficPolicy, 'may only be set for externally-accessible services'))
  }
  const health = specPath.child('healthCheckNodePort')
  const port = spec.healthCheckNodePort ?? 0
  if (needsHealthCheck(spec)) {
    if (port === 0) errors.push(required(health))
    else addInvalid(errors, health, port, isValidPortNum(port))
  } else if (port !== 0) {
    const text = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
    errors.push(invalid(health, port, text))
  }
  const internal = specPath.child('internalTrafficPolicy')
  if (spec.internalTrafficPolicy !== undefined) {
    checkEnum(errors, internal, spec.internalTrafficPolicy, ['Cluster', 'Local'])
  } else if (['NodePort', 'LoadBalancer', 'ClusterIP'].includes(spec.type ?? '')) errors.push(required(internal))
  if (spec.trafficDistribution !== undefined) {
    const known = ['PreferClose', 'PreferSameZone', 'PreferSameNode']
    checkEnum(errors, specPath.child('trafficDistribution'), spec.trafficDistribution, known)
  }
}

/** Checks the status of a service. Only load balancers have one. */
export function validateServiceStatus(service: MutableObject, old: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const ingressOf = (object: MutableObject) =>
    (object['status'] as ServiceStatus | undefined)?.loadBalancer?.ingress ?? []
  const ingresses = ingressOf(service)
  const path = FieldPath.of('status', 'loadBalancer', 'ingress')
  if (serviceSpecOf(service).type !== 'LoadBalancer') {
    if (ingresses.length > 0) {
      errors.push(forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'"))
    }
    return errors
  }
  const known = new Set(ingressOf(old).map(({ ip }) => ip))
  for (const [i, { ip, ipMode, hostname }] of ingresses.entries()) {
    const at = path.index(i)
    if (ip && !known.has(ip)) checkLegacyIp(errors, at.child('ip'), ip)
    if (ipMode === undefined) {
      if (ip) errors.push(required(at.child('ipMode'), 'must be specified when `ip` is set'))
    } else if (!ip) errors.push(forbidden(at.child('ipMode'), 'may not be specified when `ip` is not set'))
    else checkEnum(errors, at.child('ipMode'), ipMode, ['Proxy', 'VIP'])
    if (!hostname) continue
    checkSubdomain(errors, at.child('hostname'), hostname)
    const before = errors.length
    checkLegacyIp(errors, at, hostname)
    if (errors.length > before) errors.length = before
    else errors.push(invalid(at.child('hostname'), hostname, 'must be a DNS name, not an IP address'))
  }
  return errors
}
