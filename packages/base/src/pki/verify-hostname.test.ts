import { X509Certificate } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { CertificateAuthority } from './certificate-authority.ts'
import { verifyHostname } from './verify-hostname.ts'

const now = Date.now()
const authority = new CertificateAuthority(CertificateAuthority.create({ commonName: 'ca', now }))

/** A certificate with these names; without any it has no extension for them. */
function certificate(hosts: readonly string[]): X509Certificate {
  const { cert } = authority.issue({
    subject: { commonName: 'hook' },
    hosts,
    usages: ['serverAuth'],
    notBefore: now,
    notAfter: now + 1000,
  })
  return new X509Certificate(cert)
}

describe('verifyHostname()', () => {
  test.each<[string, string[]]>([
    ['hook.ns.svc', ['a', 'hook.ns.svc']],
    ['hook.ns.svc.', ['HOOK.ns.svc']],
    ['hook.ns.svc', ['*.ns.svc']],
    ['10.0.0.9', ['10.0.0.9']],
    ['::ffff:10.0.0.9', ['10.0.0.9']],
    ['[::1]', ['::1']],
  ])('accepts %s for %j', (host, hosts) => {
    expect(() => verifyHostname(certificate(hosts), host)).not.toThrow()
  })

  test.each<[string, string[], string]>([
    ['hook.ns.svc', ['a', 'b', '10.0.0.1'], 'certificate is valid for a, b, not hook.ns.svc'],
    ['10.0.0.9', ['a', '10.0.0.1'], 'certificate is valid for 10.0.0.1, not 10.0.0.9'],
    ['10.0.0.9', ['a'], "cannot validate certificate for 10.0.0.9 because it doesn't contain any IP SANs"],
    ['hook', ['10.0.0.1'], 'certificate is not valid for any names, but wanted to match hook'],
    ['hook', [], 'certificate relies on legacy Common Name field, use SANs instead'],
    ['other', [], 'certificate is not valid for any names, but wanted to match other'],
    [
      'a.b.svc',
      ['*.svc', '*', 'a.*.svc', 'x*.b.svc'],
      'certificate is valid for *.svc, *, a.*.svc, x*.b.svc, not a.b.svc',
    ],
    ['.', ['.'], 'certificate is valid for ., not .'],
    ['a.b.svc', ['c, DNS:a.b.svc'], 'certificate is valid for "c\\u002c DNS:a.b.svc", not a.b.svc'],
    ['.b.svc', ['a.b.svc'], 'certificate is valid for a.b.svc, not .b.svc'],
  ])('refuses %s for %j', (host, hosts, why) => {
    expect(() => verifyHostname(certificate(hosts), host)).toThrow(new Error(`x509: ${why}`))
  })
})
