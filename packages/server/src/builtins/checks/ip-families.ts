import { parseIPSloppy } from '@kubewright/base'

/** The family of an address, or undefined when it is none. */
export function familyOf(address: string): 'IPv4' | 'IPv6' | undefined {
  const parsed = parseIPSloppy(address)
  return parsed && (parsed.unmap().family === 4 ? 'IPv4' : 'IPv6')
}

/** Whether there is an address of each family among them, and nothing else. */
export function isDualStack(addresses: readonly string[]): boolean {
  const families = addresses.map(familyOf)
  return families.includes('IPv4') && families.includes('IPv6') && !families.includes(undefined)
}
