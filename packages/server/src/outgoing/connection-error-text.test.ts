import { describe, expect, test } from 'vitest'
import { connectionErrorText } from './connection-error-text.ts'

const target = { host: '10.0.0.9', port: 443, serverName: 'hook.ns.svc' }
const failure = (code: string, more: object = {}): NodeJS.ErrnoException =>
  Object.assign(new Error(`node says ${code}`), { code, ...more })

describe('connectionErrorText()', () => {
  test.each([
    ['EHOSTUNREACH', 'dial tcp 10.0.0.9:443: connect: no route to host'],
    ['ENETUNREACH', 'dial tcp 10.0.0.9:443: connect: network is unreachable'],
    ['ETIMEDOUT', 'dial tcp 10.0.0.9:443: connect: connection timed out'],
    ['ENOTFOUND', 'dial tcp: lookup 10.0.0.9: no such host'],
    ['ECONNRESET', 'EOF'],
    ['EWHATEVER', 'node says EWHATEVER'],
  ])('has the text of Go for %s', (code, text) => {
    expect(connectionErrorText(failure(code), target)).toBe(text)
  })

  test('puts IPv6 addresses in brackets', () => {
    const text = connectionErrorText(failure('ECONNREFUSED'), { ...target, host: '::1' })
    expect(text).toBe('dial tcp [::1]:443: connect: connection refused')
  })

  test.each([
    ['hook.ns.svc', 'DNS:a, DNS:b, IP Address:10.0.0.1', 'certificate is valid for a, b, not hook.ns.svc'],
    ['10.0.0.9', 'DNS:a, IP Address:10.0.0.1', 'certificate is valid for 10.0.0.1, not 10.0.0.9'],
    ['10.0.0.9', 'DNS:a', "cannot validate certificate for 10.0.0.9 because it doesn't contain any IP SANs"],
    ['hook', 'IP Address:10.0.0.1', 'certificate is not valid for any names, but wanted to match hook'],
    ['hook', '', 'certificate relies on legacy Common Name field, use SANs instead'],
  ])('lists the names of a certificate that lacks %s', (serverName, subjectaltname, why) => {
    const error = failure('ERR_TLS_CERT_ALTNAME_INVALID', { cert: { subjectaltname } })
    const text = connectionErrorText(error, { ...target, serverName })
    expect(text).toBe(`tls: failed to verify certificate: x509: ${why}`)
  })
})
