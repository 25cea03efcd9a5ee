import { parseIPSloppy } from '@kubewright/base'

/** The family of an IP address; undefined if it is invalid. */
export function familyOf(address: string): 'IPv4' | 'IPv6' | undefined {
  const parsed = parseIPSloppy(address)
  return parsed && (parsed.unmap().family === 4 ? 'IPv4' : 'IPv6')
}

/** Whether all addresses are valid and both families occur. */
export function isDualStack(addresses: readonly string[]): boolean {
  const families = addresses.map(familyOf)
  return families.includes('IPv4') && families.includes('IPv6') && !families.includes(undefined)
}
