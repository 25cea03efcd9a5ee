import { goQuote } from '../syntax/go-quote.ts'
import type { AddressRange, NameSubtrees, ParsedCertificate } from './parsed-certificate.ts'

/**
 * Throws an Error with the text of Go unless every CA of the chain (leaf first) permits the names of all certificates below it. Stricter than
 * Go for e-mail addresses and URIs: if a CA constrains them, no certificate below it may have any. As in Go's crypto/x509/constraints.go.
 */
export function checkNameConstraints(chain: readonly ParsedCertificate[]): void {
  for (const [i, { nameConstraints }] of chain.entries()) {
    if (!nameConstraints) continue
    for (const { names } of chain.slice(0, i)) {
      const { dns = [], addresses = [], others = 0 } = names ?? {}
      const { permitted, excluded } = nameConstraints
      for (const address of addresses) {
        const { bytes } = address
        const text = goQuote(String(address))
        if (permitted.addresses.length > 0 && !permitted.addresses.some((range) => inRange(bytes, range))) {
          throw new Error(`IP address ${text} is not permitted by any constraint`)
        }
        if (excluded.addresses.some((range) => inRange(bytes, range))) {
          throw new Error(`IP address ${text} is excluded by a constraint`)
        }
      }
      for (const name of dns) checkName(name, permitted, excluded)
      if (others > 0 && permitted.others + excluded.others > 0) {
        throw new Error('e-mail addresses and URIs are constrained, and the certificate has some')
      }
    }
  }
}

function checkName(name: string, permitted: NameSubtrees, excluded: NameSubtrees): void {
  if (permitted.dns.length > 0 && !permitted.dns.some((domain) => isBelow(name, domain))) {
    throw new Error(`DNS name ${goQuote(name)} is not permitted by any constraint`)
  }
  // A wildcard matches names of the excluded domain if the domain itself matches the wildcard.
  const wildcard = name.startsWith('*.') ? name.slice(1).toLowerCase() : undefined
  const domain = excluded.dns.find(
    (candidate) => isBelow(name, candidate) || candidate.slice(candidate.indexOf('.')).toLowerCase() === wildcard,
  )
  if (domain !== undefined) throw new Error(`DNS name ${goQuote(name)} is excluded by constraint ${goQuote(domain)}`)
}

/** Whether a DNS name is the domain or, label by label, below it. A leading period permits only names below it. */
function isBelow(name: string, domain: string): boolean {
  const [a, b] = [name.toLowerCase(), domain.toLowerCase()]
  if (b === '') return true
  return b.startsWith('.') ? a.endsWith(b) : a === b || a.endsWith(`.${b}`)
}

function inRange(address: Uint8Array, { network, mask }: AddressRange): boolean {
  return address.length === network.length && address.every((byte, i) => (byte & mask[i]!) === (network[i]! & mask[i]!))
}
