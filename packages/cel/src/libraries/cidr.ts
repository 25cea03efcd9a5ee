// Networks in CIDR notation (apiserver/pkg/cel/library/cidr.go). Requires the IP library.
import { goQuote, IPPrefix } from '@kubewright/base'
import { addRanges, exactly, type FunctionCost, STRING_TRAVERSAL_COST, scaleRange } from '../define/cost-estimate.ts'
import { type CelLibrary, defineLibrary } from '../define/library.ts'
import { CelError, noSuchOverload } from '../values/cel-error.ts'
import { BOOL, type CelType, INT, opaqueType, STRING } from '../values/cel-type.ts'
import { actualSize, CelOpaque, type CelValue } from '../values/values.ts'
import { NOMINAL_COST, traversalOfFirst } from './cost-rules.ts'
import { CelIP, IP_TYPE } from './ip.ts'

/** The result type of cidr(). */
export const CIDR_TYPE: CelType = opaqueType('net.CIDR')

/** A network as a CEL value. */
export class CelCIDR extends CelOpaque {
  readonly type: CelType = CIDR_TYPE
  readonly prefix: IPPrefix

  constructor(prefix: IPPrefix) {
    super()
    this.prefix = prefix
  }

  /** Parses a network. Throws a CelError with Kubernetes' text, which contains the context twice. */
  static parse(text: string): CelCIDR {
    const context = 'network address parse error during conversion from string'
    let prefix: IPPrefix
    try {
      prefix = IPPrefix.parse(text)
    } catch (error) {
      throw new CelError(`${context}: ${context}: ${(error as Error).message}`)
    }
    if (prefix.address.is4In6()) {
      throw new CelError(`${context}: IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`)
    }
    return new CelCIDR(prefix)
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof CelCIDR)) throw noSuchOverload()
    return this.prefix.equal(other.prefix)
  }

  override get size(): number {
    return Math.ceil(this.prefix.bits / 8)
  }

  override toNative(): string {
    return this.prefix.toString()
  }
}

/** An address has 4 or 16 bytes. */
const ADDRESS_BYTES = { min: 4, max: 16 }

/**
 * The cost of two traversals of the network's bytes. With `masks`, a third traversal plus 1 is added. A string argument
 * also has to be parsed.
 */
function containsCost(stringOverload: string, masks: boolean): FunctionCost {
  const extra = masks ? addRanges(scaleRange(ADDRESS_BYTES, STRING_TRAVERSAL_COST), exactly(1)) : exactly(0)
  const compare = scaleRange(addRanges(ADDRESS_BYTES, ADDRESS_BYTES), STRING_TRAVERSAL_COST)
  return {
    estimate(call) {
      const other = call.args[0]
      if (other === undefined) return undefined
      const cost = addRanges(compare, extra)
      if (call.overloadId !== stringOverload) return { cost }
      return { cost: addRanges(cost, scaleRange(call.sizeOf(other), STRING_TRAVERSAL_COST)) }
    },
    track(overloadId, [network, other]) {
      const size = actualSize(network ?? null)
      let cost = Math.ceil((size + size) * STRING_TRAVERSAL_COST)
      if (masks) cost += Math.ceil(size * STRING_TRAVERSAL_COST) + 1
      if (overloadId === stringOverload) cost += Math.ceil(actualSize(other ?? '') * STRING_TRAVERSAL_COST)
      return cost
    },
  }
}

/** The network functions: cidr, isCIDR, string, containsIP, containsCIDR, ip, masked, prefixLength. */
export const cidrLibrary: CelLibrary = defineLibrary('kubernetes.net.cidr', () => ({
  types: [{ type: CIDR_TYPE, equalityCost: () => exactly(1) }],
  functions: [
    {
      name: 'cidr',
      cost: traversalOfFirst(),
      overloads: [{ id: 'string_to_cidr', args: [STRING], result: CIDR_TYPE, evaluate: CelCIDR.parse }],
    },
    {
      name: 'isCIDR',
      cost: traversalOfFirst(),
      overloads: [{ id: 'is_cidr', args: [STRING], result: BOOL, evaluate: isCIDR }],
    },
    {
      name: 'string',
      overloads: [
        {
          id: 'cidr_to_string',
          args: [CIDR_TYPE],
          result: STRING,
          evaluate: (cidr: CelCIDR) => cidr.prefix.toString(),
        },
      ],
    },
    {
      name: 'containsIP',
      cost: containsCost('cidr_contains_ip_string', false),
      overloads: [
        {
          id: 'cidr_contains_ip_string',
          member: true,
          args: [CIDR_TYPE, STRING],
          result: BOOL,
          evaluate: (cidr: CelCIDR, text: string) => cidr.prefix.contains(CelIP.parse(text).address),
        },
        {
          id: 'cidr_contains_ip_ip',
          member: true,
          args: [CIDR_TYPE, IP_TYPE],
          result: BOOL,
          evaluate: (cidr: CelCIDR, ip: CelIP) => cidr.prefix.contains(ip.address),
        },
      ],
    },
    {
      name: 'containsCIDR',
      cost: containsCost('cidr_contains_cidr_string', true),
      overloads: [
        {
          id: 'cidr_contains_cidr_string',
          member: true,
          args: [CIDR_TYPE, STRING],
          result: BOOL,
          evaluate: (cidr: CelCIDR, text: string) => containsCIDR(cidr, CelCIDR.parse(text)),
        },
        {
          id: 'cidr_contains_cidr',
          member: true,
          args: [CIDR_TYPE, CIDR_TYPE],
          result: BOOL,
          evaluate: containsCIDR,
        },
      ],
    },
    {
      name: 'ip',
      overloads: [
        {
          id: 'cidr_ip',
          member: true,
          args: [CIDR_TYPE],
          result: IP_TYPE,
          cost: NOMINAL_COST,
          evaluate: (cidr: CelCIDR) => new CelIP(cidr.prefix.address),
        },
      ],
    },
    {
      name: 'prefixLength',
      cost: NOMINAL_COST,
      overloads: [
        {
          id: 'cidr_prefix_length',
          member: true,
          args: [CIDR_TYPE],
          result: INT,
          evaluate: (cidr: CelCIDR) => cidr.prefix.bits,
        },
      ],
    },
    {
      name: 'masked',
      cost: NOMINAL_COST,
      overloads: [
        {
          id: 'cidr_masked',
          member: true,
          args: [CIDR_TYPE],
          result: CIDR_TYPE,
          evaluate: (cidr: CelCIDR) => new CelCIDR(cidr.prefix.masked()),
        },
      ],
    },
  ],
}))

function containsCIDR(outer: CelCIDR, inner: CelCIDR): boolean {
  return outer.prefix.overlaps(inner.prefix) && outer.prefix.bits <= inner.prefix.bits
}

function isCIDR(text: string): boolean {
  try {
    CelCIDR.parse(text)
    return true
  } catch {
    return false
  }
}
