import { newInvalid } from '@kubewright/api'
import { type FieldError, FieldPath, invalid } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { familyOf } from '../../checks/ip-families.ts'
import { isHeadless, needsClusterIp, type ServiceSpec, sameList, serviceSpecOf, setField } from './service-types.ts'
import { validateClusterIps } from './validate-cluster-ips.ts'

const specPath = FieldPath.of('spec')
const policyPath = specPath.child('ipFamilyPolicy')

/** Copies a change of `clusterIP` to `clusterIPs`, and keeps the list when an update leaves it out. */
export function normalizeClusterIps(spec: ServiceSpec, old: ServiceSpec | undefined): void {
  if (!old) {
    if (spec.clusterIP && (spec.clusterIPs ?? []).length === 0) spec.clusterIPs = [spec.clusterIP]
    return
  }
  const same = sameList(old.clusterIPs, spec.clusterIPs)
  if ((old.clusterIPs ?? []).length > 0 && (spec.clusterIPs ?? []).length === 0 && old.clusterIP === spec.clusterIP) {
    spec.clusterIPs = [...(old.clusterIPs ?? [])]
  }
  if ((old.clusterIP ?? '') === (spec.clusterIP ?? '') || !same) return
  setField(spec, 'clusterIPs', spec.clusterIP ? [spec.clusterIP] : [])
}

/**
 * Fills the IP families and the family policy for a cluster with IPv4 only. Throws an Invalid error for fields that need IPv6 (alloc.go,
 * initIPFamilyFields).
 */
export function fillIpFamilies(service: MutableObject, old: ServiceSpec | undefined): void {
  const spec = serviceSpecOf(service)
  if (!needsClusterIp(spec) || keepsPreference(spec, old)) return
  const unselective = Object.keys(spec.selector ?? {}).length === 0
  const headlessUnselective = spec.clusterIP === 'None' && unselective
  spec.ipFamilyPolicy ??= old?.ipFamilyPolicy ?? (headlessUnselective ? 'RequireDualStack' : 'SingleStack')
  const errors: FieldError[] = []
  validateClusterIps(spec, old, errors)
  reject(service, errors)
  if (old) checkReleases(spec, old, errors)
  const single = spec.ipFamilyPolicy === 'SingleStack'
  const several = (what: string): void => {
    const text = `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`
    errors.push(invalid(policyPath, spec.ipFamilyPolicy, text))
  }
  if (single && spec.clusterIPs?.length === 2) several('cluster IPs')
  if (single && spec.ipFamilies?.length === 2) several('IP families')
  const families = [...(spec.ipFamilies ?? [])]
  if (!isHeadless(spec)) {
    for (const [i, ip] of (spec.clusterIPs ?? []).entries()) {
      if (i < families.length) continue
      const family = familyOf(ip) ?? 'unknown'
      if (family === 'IPv4') families.push(family)
      else {
        const text = `${family} is not configured on this cluster`
        errors.push(invalid(specPath.child('clusterIPs').index(i), spec.clusterIPs, text))
      }
    }
  }
  reject(service, errors)
  if (headlessUnselective) {
    // The client creates the endpoints of such a service, so they may have addresses of both families.
    if (families.length === 0) families.push('IPv4')
    if (families.length < 2 && !single) families.push(families[0] === 'IPv4' ? 'IPv6' : 'IPv4')
    spec.ipFamilies = families
    return
  }
  if (spec.ipFamilyPolicy === 'RequireDualStack') {
    errors.push(invalid(policyPath, spec.ipFamilyPolicy, 'this cluster is not configured for dual-stack services'))
  }
  for (const [i, family] of families.entries()) {
    if (family === 'IPv4') continue
    errors.push(invalid(specPath.child('ipFamilies').index(i), family, 'not configured on this cluster'))
  }
  reject(service, errors)
  spec.ipFamilies = families.length > 0 ? families : ['IPv4']
}

/** Whether an update leaves `ipFamilies` unchanged in a Service with the policy PreferDualStack. */
function keepsPreference(spec: ServiceSpec, old: ServiceSpec | undefined): boolean {
  return (
    old !== undefined &&
    spec.ipFamilyPolicy === 'PreferDualStack' &&
    (old.ipFamilyPolicy ?? 'PreferDualStack') === 'PreferDualStack' &&
    old.type === spec.type &&
    spec.type !== 'ExternalName' &&
    sameList(old.clusterIPs, spec.clusterIPs) &&
    sameList(old.ipFamilies, spec.ipFamilies)
  )
}

function checkReleases(spec: ServiceSpec, old: ServiceSpec, errors: FieldError[]): void {
  const { clusterIPs = [], ipFamilies = [] } = spec
  if (spec.ipFamilyPolicy === 'SingleStack') {
    if (sameList(old.clusterIPs, clusterIPs) && clusterIPs.length > 1) spec.clusterIPs = clusterIPs.slice(0, 1)
    if (sameList(old.ipFamilies, ipFamilies) && ipFamilies.length > 1) spec.ipFamilies = ipFamilies.slice(0, 1)
    return
  }
  const kept = (what: string): void => {
    errors.push(invalid(policyPath, spec.ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${what}`))
  }
  if (clusterIPs.length > 0 && clusterIPs.length < (old.clusterIPs ?? []).length) kept('cluster IP')
  if (ipFamilies.length > 0 && ipFamilies.length < (old.ipFamilies ?? []).length) kept('IP family')
}

function reject(service: MutableObject, errors: readonly FieldError[]): void {
  if (errors.length === 0) return
  throw newInvalid({ group: '', kind: 'Service' }, service.metadata.name ?? '', errors)
}
