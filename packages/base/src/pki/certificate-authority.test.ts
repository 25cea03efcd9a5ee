import { execFileSync, spawnSync } from 'node:child_process'
import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { CertificateAuthority, servingHosts } from './certificate-authority.ts'
import { checkCertificateRequest, parseCertificateRequest } from './certificate-request.ts'
import { derInteger, derOid, derTime, fromPem, readDer, readOid } from './der.ts'

const now = Date.UTC(2026, 0, 2, 3, 4, 5)
const hasOpenssl = spawnSync('openssl', ['version']).status === 0
if (!hasOpenssl) console.warn('skipped: openssl is not on PATH')

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'kubewright-pki-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

describe('CertificateAuthority', () => {
  const ca = CertificateAuthority.create({ commonName: 'test-ca', now })
  const authority = new CertificateAuthority(ca)

  test('create() creates a self-signed CA certificate', () => {
    const certificate = new X509Certificate(ca.cert)
    expect(certificate.ca).toBe(true)
    expect(certificate.subject).toBe('CN=test-ca')
    expect(certificate.verify(certificate.publicKey)).toBe(true)
    expect(new Date(certificate.validTo).getTime()).toBe(now + 3650 * 86_400_000)
  })

  test('issueServing() includes every host of the server', () => {
    const { cert, key } = authority.issueServing({ now, hosts: ['example.com', '192.168.0.7'] })
    const certificate = new X509Certificate(cert)
    for (const host of servingHosts) {
      const found = /^[\d.]+$|:/.test(host) ? certificate.checkIP(host) : certificate.checkHost(host)
      expect(found, host).toBeDefined()
    }
    expect(certificate.checkHost('example.com')).toBe('example.com')
    expect(certificate.checkIP('192.168.0.7')).toBe('192.168.0.7')
    expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1'])
    expect(certificate.checkIssued(new X509Certificate(ca.cert))).toBe(true)
    expect(certificate.publicKey.export({ type: 'spki', format: 'pem' })).toBe(
      createPublicKey(key).export({ type: 'spki', format: 'pem' }),
    )
  })

  test('issueClient() puts the groups before the user', () => {
    const { cert } = authority.issueClient({ commonName: 'jane', organizations: ['devs', 'öps'], now })
    expect(new X509Certificate(cert).toLegacyObject().subject).toEqual({ CN: 'jane', O: ['devs', 'öps'] })
  })

  test('issue() gives every certificate a unique serial number', () => {
    const serials = [1, 2, 3].map(
      () => new X509Certificate(authority.issueClient({ commonName: 'x', now }).cert).serialNumber,
    )
    expect(new Set(serials).size).toBe(3)
  })

  test.skipIf(!hasOpenssl)('issue() creates server and client certificates that openssl verifies', () => {
    const dir = folder()
    writeFileSync(join(dir, 'ca.crt'), ca.cert)
    writeFileSync(join(dir, 'server.crt'), authority.issueServing({ now: Date.now() }).cert)
    writeFileSync(join(dir, 'client.crt'), authority.issueClient({ commonName: 'jane', now: Date.now() }).cert)
    const verify = (purpose: string, name: string) =>
      spawnSync(
        'openssl',
        ['verify', '-x509_strict', '-purpose', purpose, '-CAfile', join(dir, 'ca.crt'), join(dir, name)],
        {
          encoding: 'utf8',
        },
      )
    expect(verify('sslserver', 'server.crt').stdout).toContain('OK')
    expect(verify('sslclient', 'client.crt').stdout).toContain('OK')
    expect(verify('sslserver', 'client.crt').status).not.toBe(0)
  })

  test('sign() certifies a public key without its private key', () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const cert = authority.sign(publicKey, {
      subject: { commonName: 'x' },
      usages: ['clientAuth'],
      notBefore: now,
      notAfter: Date.UTC(2051, 0, 1),
    })
    expect(new X509Certificate(cert).validTo).toBe('Jan  1 00:00:00 2051 GMT')
  })
})

describe('parseCertificateRequest()', () => {
  test('rejects input that is not a PEM request, with the error text of the API', () => {
    for (const text of ['', 'not a csr', '-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n']) {
      expect(() => parseCertificateRequest(text)).toThrow('PEM block type must be CERTIFICATE REQUEST')
    }
    const garbage = '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n'
    expect(() => parseCertificateRequest(garbage)).toThrow('asn1: ')
  })

  test.skipIf(!hasOpenssl)(
    'decodes the subject and names of a request; checkCertificateRequest() verifies its signature',
    () => {
      const dir = folder()
      const args = [
        '-subj',
        '/O=devs/O=ops/CN=jane',
        '-addext',
        'subjectAltName=DNS:a.example,IP:10.1.2.3,IP:fd00::1,email:j@x,URI:spiffe://x/y',
      ]
      for (const key of [['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'], ['rsa:2048']]) {
        const pem = execFileSync(
          'openssl',
          ['req', '-new', '-newkey', ...key, '-nodes', '-keyout', join(dir, 'key'), ...args],
          {
            encoding: 'utf8',
            stdio: ['ignore', 'pipe', 'ignore'],
          },
        )
        const request = parseCertificateRequest(pem)
        expect(request).toMatchObject({
          commonName: 'jane',
          organizations: ['devs', 'ops'],
          dnsNames: ['a.example'],
          ipAddresses: ['10.1.2.3', 'fd00::1'],
          emailAddresses: ['j@x'],
          uris: ['spiffe://x/y'],
        })
        checkCertificateRequest(request)
        request.signed[20]! ^= 1
        expect(() => checkCertificateRequest(request)).toThrow('invalid signature')
      }
    },
  )
})

describe('DER', () => {
  test.each([
    ['2.5.4.3', '0603550403'],
    ['1.2.840.113549.1.1.11', '06092a864886f70d01010b'],
  ])('derOid() and readOid() agree on %s', (dotted, hex) => {
    expect(derOid(dotted).toString('hex')).toBe(hex)
    expect(readOid(readDer(derOid(dotted))[0])).toBe(dotted)
  })

  test('derInteger() keeps numbers positive and uses the shortest encoding', () => {
    expect(derInteger(Buffer.from([0, 0, 0x7f])).toString('hex')).toBe('02017f')
    expect(derInteger(Buffer.from([0x80])).toString('hex')).toBe('02020080')
    expect(derInteger(Buffer.from([0])).toString('hex')).toBe('020100')
  })

  test('derTime() switches to GeneralizedTime in 2050', () => {
    expect(
      derTime(Date.UTC(2049, 11, 31))
        .subarray(2)
        .toString(),
    ).toBe('491231000000Z')
    expect(
      derTime(Date.UTC(2050, 0, 1))
        .subarray(2)
        .toString(),
    ).toBe('20500101000000Z')
  })

  test('readDer() rejects truncated values', () => {
    for (const hex of ['30', '3005', '3081', '308001', '3084ffffffff']) {
      expect(() => readDer(Buffer.from(hex, 'hex')), hex).toThrow(RangeError)
    }
  })

  test('fromPem() returns the text after the first block', () => {
    const found = fromPem('x\n-----BEGIN A-----\nAQI=\n-----END A-----\ny')
    expect(found).toEqual({ label: 'A', bytes: Buffer.from([1, 2]), rest: 'y' })
  })
})
