import { formatNetIP, IPAddress, IPPrefix, parseCIDRSloppy, parseIPSloppy } from '@kubewright/base'
import type { FieldPath } from '@kubewright/schema'

/** Warns about an IP address that only the lenient rules accept, or that is not in canonical form. */
export function ipWarnings(path: FieldPath, value: string): string[] {
  const sloppy = parseIPSloppy(value)
  if (!sloppy) return []
  const strict = parsed(() => IPAddress.parse(value))
  if (!strict || strict.is4In6()) {
    const text = 'will be considered invalid in a future Kubernetes release'
    return [`${path}: non-standard IP address "${value}" ${text}: use "${formatNetIP(sloppy)}"`]
  }
  if (strict.family === 6 && strict.toString() !== value) {
    return [`${path}: IPv6 address "${value}" should be in RFC 5952 canonical format ("${strict}")`]
  }
  return []
}

/** As {@link ipWarnings}, for a CIDR. */
export function cidrWarnings(path: FieldPath, value: string): string[] {
  const sloppy = parseCIDRSloppy(value)
  if (!sloppy) return []
  const warnings: string[] = []
  const network = sloppy.masked()
  if (network.address.toString() !== sloppy.address.toString()) {
    const single = `${formatNetIP(sloppy.address)}/${sloppy.address.bitLength}`
    warnings.push(
      `${path}: CIDR value "${value}" is ambiguous in this context (should be "${network}" or "${single}"?)`,
    )
  }
  const strict = parsed(() => IPPrefix.parse(value))
  if (!strict || strict.address.is4In6()) {
    const text = 'will be considered invalid in a future Kubernetes release'
    warnings.push(`${path}: non-standard CIDR value "${value}" ${text}: use "${network}"`)
  } else if (warnings.length === 0 && strict.address.family === 6 && strict.toString() !== value) {
    warnings.push(`${path}: IPv6 CIDR value "${value}" should be in RFC 5952 canonical format ("${strict}")`)
  }
  return warnings
}

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}
