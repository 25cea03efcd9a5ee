import { describe, expect, test } from 'vitest'
import { IPAddress } from '../syntax/ip.ts'
import type { ParsedCertificate } from './parsed-certificate.ts'
import { verifyHostname } from './verify-hostname.ts'

/** A certificate with these names; without any it has no extension for them. */
function certificate(dns: readonly string[], addresses: readonly string[], commonName = 'hook'): ParsedCertificate {
  const names =
    dns.length + addresses.length === 0
      ? undefined
      : { dns, addresses: addresses.map((text) => IPAddress.parse(text)), others: 0, bytes: Buffer.alloc(0) }
  return { names, commonName } as unknown as ParsedCertificate
}

describe('verifyHostname()', () => {
  test.each<[string, string[], string[]]>([
    ['hook.ns.svc', ['a', 'hook.ns.svc'], []],
    ['hook.ns.svc.', ['HOOK.ns.svc'], []],
    ['hook.ns.svc', ['*.ns.svc'], []],
    ['10.0.0.9', [], ['10.0.0.9']],
    ['::ffff:10.0.0.9', [], ['10.0.0.9']],
    ['[::1]', [], ['::1']],
    ['odd name', ['ODD name'], []],
  ])('accepts %s for %j %j', (host, dns, addresses) => {
    expect(() => verifyHostname(certificate(dns, addresses), host)).not.toThrow()
  })

  test.each<[string, string[], string[], string]>([
    ['hook.ns.svc', ['a', 'b'], ['10.0.0.1'], 'certificate is valid for a, b, not hook.ns.svc'],
    ['10.0.0.9', ['a'], ['10.0.0.1'], 'certificate is valid for 10.0.0.1, not 10.0.0.9'],
    [
      '10.0.0.9',
      ['a', '10.0.0.9'],
      [],
      "cannot validate certificate for 10.0.0.9 because it doesn't contain any IP SANs",
    ],
    ['hook', [], ['10.0.0.1'], 'certificate is not valid for any names, but wanted to match hook'],
    ['hook', [], [], 'certificate relies on legacy Common Name field, use SANs instead'],
    ['other', [], [], 'certificate is not valid for any names, but wanted to match other'],
    [
      'a.b.svc',
      ['*.svc', '*', 'a.*.svc', 'x*.b.svc'],
      [],
      'certificate is valid for *.svc, *, a.*.svc, x*.b.svc, not a.b.svc',
    ],
    ['.', ['.'], [], 'certificate is valid for ., not .'],
  ])('refuses %s for %j %j', (host, dns, addresses, why) => {
    expect(() => verifyHostname(certificate(dns, addresses), host)).toThrow(new Error(`x509: ${why}`))
  })
})
