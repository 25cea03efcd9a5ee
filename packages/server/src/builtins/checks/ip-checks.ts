import { formatNetIP, goQuote, IPAddress, IPPrefix, parseCIDRSloppy, parseIPSloppy } from '@kubewright/base'
import { type FieldError, type FieldPath, invalid } from '@kubewright/schema'

// Fields that are older than Go's strict parser accept IP addresses and CIDRs in a lenient form; newer fields require the canonical form
// (apimachinery/pkg/util/validation/ip.go).

const none: ReadonlySet<string> = new Set()
const noAddress = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'
const noRange = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'

/** Checks an IP address by the lenient rules. Values in `known`, those of the stored object, are accepted. */
export function checkLegacyIp(
  errors: FieldError[],
  path: FieldPath,
  value: string,
  known: ReadonlySet<string> = none,
): void {
  if (!known.has(value) && !parseIPSloppy(value)) errors.push(invalid(path, value, noAddress))
}

/** Checks a CIDR by the lenient rules. Values in `known`, those of the stored object, are accepted. */
export function checkLegacyCidr(
  errors: FieldError[],
  path: FieldPath,
  value: string,
  known: ReadonlySet<string> = none,
): void {
  if (!known.has(value) && !parseCIDRSloppy(value)) errors.push(invalid(path, value, noRange))
}

/** Returns the problems of an IP address that must have the canonical form. */
export function ipProblems(value: string): string[] {
  const sloppy = parseIPSloppy(value)
  if (!sloppy) return [noAddress]
  const strict = attempt(() => IPAddress.parse(value))
  if (!strict) return ['must not have leading 0s']
  if (strict.is4In6()) return ['must not be an IPv4-mapped IPv6 address']
  const canonical = formatNetIP(sloppy)
  return value === canonical ? [] : [`must be in canonical form (${goQuote(canonical)})`]
}

/** Returns the problems of a CIDR that must have the canonical form. */
export function cidrProblems(value: string): string[] {
  const sloppy = parseCIDRSloppy(value)
  if (!sloppy) return [noRange]
  const strict = attempt(() => IPPrefix.parse(value))
  if (!strict) return ['must not have leading 0s in IP or prefix length']
  if (strict.address.is4In6()) return ['must not have an IPv4-mapped IPv6 address']
  if (!strict.address.equal(strict.masked().address)) return ['must not have bits set beyond the prefix length']
  const canonical = sloppy.masked().toString()
  return value === canonical ? [] : [`must be in canonical form (${goQuote(canonical)})`]
}

function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}
