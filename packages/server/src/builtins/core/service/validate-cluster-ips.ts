import { duplicate, type FieldError, FieldPath, invalid, required } from '@kubewright/schema'
import { unsupported } from '../../checks/field-checks.ts'
import { checkLegacyIp } from '../../checks/ip-checks.ts'
import { familyOf, isDualStack } from '../../checks/ip-families.ts'
import { isHeadless, type ServiceSpec } from './service-types.ts'

const specPath = FieldPath.of('spec')
const ipsPath = specPath.child('clusterIPs')
const familiesPath = specPath.child('ipFamilies')
const policyPath = specPath.child('ipFamilyPolicy')
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']

/** Checks that the cluster IPs of a service match its IP families. */
export function validateClusterIps(spec: ServiceSpec, old: ServiceSpec | undefined, errors: FieldError[]): void {
  if (spec.type === 'ExternalName') return
  const ips = spec.clusterIPs ?? []
  const families = spec.ipFamilies ?? []
  if (spec.clusterIP) {
    if (ips.length === 0) errors.push(required(ipsPath))
    else if (ips[0] !== spec.clusterIP) errors.push(invalid(ipsPath, ips, 'first value must match `clusterIP`'))
  } else if (ips.length > 0) errors.push(invalid(ipsPath, ips, 'must be empty when `clusterIP` is not specified'))
  const seen = new Set<string>()
  for (const [i, family] of families.entries()) {
    if (family !== 'IPv4' && family !== 'IPv6') {
      errors.push(unsupported(familiesPath.index(i), family, ['IPv4', 'IPv6']))
    }
    if (seen.has(family)) errors.push(duplicate(familiesPath.index(i), family))
    seen.add(family)
  }
  if (spec.ipFamilyPolicy !== undefined && !policies.includes(spec.ipFamilyPolicy)) {
    errors.push(unsupported(policyPath, spec.ipFamilyPolicy, policies))
  }
  const before = errors.length
  for (const [i, ip] of ips.entries()) {
    if (i === 0 && ip === 'None') {
      if (ips.length > 1) errors.push(invalid(ipsPath, ips, "'None' must be the first and only value"))
    } else if (!old?.clusterIPs?.includes(ip)) checkLegacyIp(errors, ipsPath.index(i), ip)
  }
  const usable = errors.length === before
  if (ips.length > 2) errors.push(invalid(ipsPath, ips, 'may only hold up to 2 values'))
  if (!usable) return
  if (ips.length > 1 && !isDualStack(ips)) {
    errors.push(invalid(ipsPath, ips, 'may specify no more than one IP for each IP family'))
  }
  if (isHeadless(spec)) return
  for (const [i, ip] of ips.entries()) {
    const family = families[i]
    if (family === undefined) break
    if (familyOf(ip) !== family && (family === 'IPv4' || family === 'IPv6')) {
      errors.push(invalid(ipsPath.index(i), ip, `expected an ${family} value as indicated by \`ipFamilies[${i}]\``))
    }
  }
}

const fixed = 'may not change once set'

/** Checks that an update keeps the first cluster IP. A second one may be added and removed. */
export function validateClusterIpsUpdate(spec: ServiceSpec, old: ServiceSpec, errors: FieldError[]): void {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName') return
  if (isHeadless(spec) && isHeadless(old)) return
  const ips = spec.clusterIPs ?? []
  const before = old.clusterIPs ?? []
  const primaryChanged = (): void => {
    errors.push(invalid(ipsPath.index(0), ips, fixed))
  }
  if (before.length === ips.length) {
    for (const [i, ip] of before.entries()) if (ip !== ips[i]) errors.push(invalid(ipsPath.index(i), ips, fixed))
  } else if (before.length > ips.length) {
    if (ips.length === 0) {
      errors.push(invalid(ipsPath.index(0), spec.clusterIPs ?? null, 'primary clusterIP can not be unset'))
    } else if (ips[0] !== before[0]) primaryChanged()
    if (ips.length === 1) checkReleased(spec, 'clusterIP', errors)
  } else if (before.length > 0 && ips[0] !== before[0]) primaryChanged()
}

/** As {@link validateClusterIpsUpdate}, for IP families. */
export function validateIpFamiliesUpdate(spec: ServiceSpec, old: ServiceSpec, errors: FieldError[]): void {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName') return
  if (isHeadless(spec) || isHeadless(old)) return
  const families = spec.ipFamilies ?? []
  const before = old.ipFamilies ?? []
  const at = familiesPath.index(0)
  if (before.length === families.length) {
    for (const [i, family] of before.entries()) {
      if (family !== families[i]) errors.push(invalid(at, families, fixed))
    }
    return
  }
  const shrinks = before.length > families.length
  if (shrinks && (spec.clusterIPs ?? []).length === 0) {
    errors.push(invalid(at, spec.ipFamilies ?? null, 'primary ipFamily can not be unset'))
  }
  if (families.length > 0 && before.length > 0 && families[0] !== before[0]) {
    errors.push(invalid(at, spec.clusterIPs ?? null, fixed))
  }
  if (shrinks && families.length === 1) checkReleased(spec, 'ipFamily', errors)
}

function checkReleased({ ipFamilyPolicy }: ServiceSpec, what: string, errors: FieldError[]): void {
  if (ipFamilyPolicy === 'SingleStack') return
  const text = `must be set to 'SingleStack' when releasing the secondary ${what}`
  errors.push(invalid(policyPath, ipFamilyPolicy ?? null, text))
}
