// IP addresses (apiserver/pkg/cel/library/ip.go).
import { goQuote, IPAddress } from '@kubewright/base'
import { exactly } from '../define/cost-estimate.ts'
import { type CelFunction, type CelLibrary, defineLibrary } from '../define/library.ts'
import { CelError, noSuchOverload } from '../values/cel-error.ts'
import { BOOL, type CelType, INT, opaqueType, STRING } from '../values/cel-type.ts'
import { CelOpaque, type CelValue } from '../values/values.ts'
import { NOMINAL_COST, traversalOfFirst } from './cost-rules.ts'

/** The result type of ip(). */
export const IP_TYPE: CelType = opaqueType('net.IP')

/** An IP address as a CEL value. */
export class CelIP extends CelOpaque {
  readonly type: CelType = IP_TYPE
  readonly address: IPAddress

  constructor(address: IPAddress) {
    super()
    this.address = address
  }

  /** Parses an address without zone that is not IPv4-mapped. Throws a CelError with Kubernetes' text. */
  static parse(text: string): CelIP {
    let address: IPAddress
    try {
      address = IPAddress.parse(text)
    } catch (error) {
      const reason = (error as Error).message
      throw new CelError(`IP Address ${goQuote(text)} parse error during conversion from string: ${reason}`)
    }
    if (address.zone !== '') throw new CelError(`IP address ${goQuote(text)} with zone value is not allowed`)
    if (address.is4In6()) throw new CelError(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`)
    return new CelIP(address)
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof CelIP)) throw noSuchOverload()
    return this.address.equal(other.address)
  }

  override get size(): number {
    return this.address.bytes.length
  }

  override toNative(): string {
    return this.address.toString()
  }
}

/** The IP address functions: ip, isIP, ip.isCanonical, string, family and the classification of addresses. */
export const ipLibrary: CelLibrary = defineLibrary('kubernetes.net.ip', () => ({
  types: [{ type: IP_TYPE, equalityCost: () => exactly(1) }],
  functions: [
    {
      name: 'ip',
      cost: traversalOfFirst(),
      overloads: [{ id: 'string_to_ip', args: [STRING], result: IP_TYPE, evaluate: CelIP.parse }],
    },
    {
      name: 'isIP',
      cost: traversalOfFirst(),
      overloads: [{ id: 'is_ip', args: [STRING], result: BOOL, evaluate: isIP }],
    },
    {
      name: 'ip.isCanonical',
      // Two traversals: one to parse the text, one to compare it with the canonical form.
      cost: traversalOfFirst({ factor: 2 }),
      overloads: [
        {
          id: 'ip_is_canonical',
          args: [STRING],
          result: BOOL,
          evaluate: (text: string) => CelIP.parse(text).address.toString() === text,
        },
      ],
    },
    {
      name: 'string',
      overloads: [
        { id: 'ip_to_string', args: [IP_TYPE], result: STRING, evaluate: (ip: CelIP) => ip.address.toString() },
      ],
    },
    accessor('family', 'ip_family', (address) => address.family, INT),
    accessor('isUnspecified', 'ip_is_unspecified', (address) => address.isUnspecified()),
    accessor('isLoopback', 'ip_is_loopback', (address) => address.isLoopback()),
    accessor('isLinkLocalMulticast', 'ip_is_link_local_multicast', (address) => address.isLinkLocalMulticast()),
    accessor('isLinkLocalUnicast', 'ip_is_link_local_unicast', (address) => address.isLinkLocalUnicast()),
    accessor('isGlobalUnicast', 'ip_is_global_unicast', (address) => address.isGlobalUnicast()),
  ],
}))

function accessor(
  name: string,
  id: string,
  read: (address: IPAddress) => CelValue,
  result: CelType = BOOL,
): CelFunction {
  const evaluate = (ip: CelIP): CelValue => read(ip.address)
  return { name, cost: NOMINAL_COST, overloads: [{ id, member: true, args: [IP_TYPE], result, evaluate }] }
}

function isIP(text: string): boolean {
  try {
    CelIP.parse(text)
    return true
  } catch {
    return false
  }
}
