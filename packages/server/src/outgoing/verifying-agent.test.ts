import { once } from 'node:events'
import { createServer } from 'node:https'
import { type AddressInfo, createServer as createTcp, type Socket } from 'node:net'
import { connect } from 'node:tls'
import { afterAll, describe, expect, test } from 'vitest'
import { type IssuedTestCertificate, type TestCertificate, testCertificate } from '../testdata/test-certificates.ts'
import { systemOutgoing } from './outgoing.ts'

const serverAuth = '1.3.6.1.5.5.7.3.1'
const clientAuth = '1.3.6.1.5.5.7.3.2'
/** Lets the server present weak signatures. */
const ciphers = 'DEFAULT:@SECLEVEL=0'
const day = 24 * 60 * 60 * 1000
const host = 'hook.ns.svc'
const authority: TestCertificate = { subject: 'hook.ns.svc', ca: true, keyUsage: 0x84 }
const serving: TestCertificate = {
  subject: 'hook.ns.svc',
  hosts: [host],
  keyUsage: 0x80,
  extendedKeyUsages: [serverAuth],
}

const servers: { close(): void }[] = []
afterAll(() => {
  for (const server of servers) server.close()
})

/** Sends a request to a server with the certificate. Resolves to `ok` or to the error text; `requests` counts what arrived. */
async function call(
  served: IssuedTestCertificate,
  ca: string,
  { intermediates = '', wanted = host }: { intermediates?: string; wanted?: string } = {},
): Promise<{ outcome: string; requests: number }> {
  let requests = 0
  const server = createServer({ cert: served.cert + intermediates, key: served.key, ciphers }, (_, response) => {
    requests++
    response.end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  servers.push(server)
  const { port } = server.address() as AddressInfo
  const outcome = await systemOutgoing({
    method: 'POST',
    url: new URL(`https://${wanted}/`),
    connectTo: async () => ({ host: '127.0.0.1', port }),
    headers: {},
    body: Buffer.from('secret'),
    tls: { ca },
  }).then(
    async ({ body }) => {
      for await (const _ of body);
      return 'ok'
    },
    (error: Error) => error.message.replace(/^tls: failed to verify certificate: /, 'tls: '),
  )
  server.closeAllConnections()
  return { outcome, requests }
}

const root = testCertificate(authority)
const accepted = { outcome: 'ok', requests: 1 }
const refused = (outcome: string | RegExp): object => ({
  outcome: typeof outcome === 'string' ? outcome : expect.stringMatching(outcome),
  requests: 0,
})

describe('verifyingAgent()', () => {
  test('accepts a certificate with the subject of its CA and without key identifiers', async () => {
    expect(await call(testCertificate({ ...serving, issuer: root }), root.cert)).toEqual(accepted)
  })

  test('accepts a CA bundle that is the serving certificate itself, which is no CA', async () => {
    const self = testCertificate({ ...serving, ca: false })
    expect(await call(self, self.cert)).toEqual(accepted)
    const issued = testCertificate({ ...serving, issuer: root })
    expect(await call(issued, issued.cert)).toEqual(accepted)
  })

  test('accepts a CA bundle that is an intermediate with the subject of its root', async () => {
    const middle = testCertificate({ ...authority, issuer: root })
    const leaf = testCertificate({ ...serving, issuer: middle })
    expect(await call(leaf, middle.cert)).toEqual(accepted)
  })

  test('refuses a chain of more certificates with the same subject, which Go accepts', async () => {
    const middle = testCertificate({ ...authority, issuer: root })
    const leaf = testCertificate({ ...serving, issuer: middle })
    expect(await call(leaf, root.cert, { intermediates: middle.cert })).toEqual(refused(/unknown authority/))
  })

  test('accepts one of several roots with the same subject, and skips blocks that are no certificates', async () => {
    const bundle = `${testCertificate(authority).cert}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n${root.cert}`
    expect(await call(testCertificate({ ...serving, issuer: root }), bundle)).toEqual(accepted)
  })

  test.each<[string, Partial<TestCertificate>]>([
    ['a wildcard', { hosts: ['*.ns.svc'] }],
    ['no extended key usages', { extendedKeyUsages: undefined as never }],
    ['a name in other case', { hosts: ['HOOK.ns.SVC'] }],
  ])('accepts a certificate with %s', async (_, more) => {
    expect(await call(testCertificate({ ...serving, issuer: root, ...more }), root.cert)).toEqual(accepted)
  })

  test.each<[string, Partial<TestCertificate>, string | RegExp]>([
    ['another name', { hosts: ['a', 'b.c'] }, 'tls: x509: certificate is valid for a, b.c, not hook.ns.svc'],
    ['a wildcard for two labels', { hosts: ['*.svc'] }, 'tls: x509: certificate is valid for *.svc, not hook.ns.svc'],
    [
      'its name as common name only',
      { hosts: undefined as never },
      'tls: x509: certificate relies on legacy Common Name field, use SANs instead',
    ],
    [
      'no names',
      { subject: 'x', hosts: undefined as never },
      'tls: x509: certificate is not valid for any names, but wanted to match hook.ns.svc',
    ],
    [
      'a past validity',
      { notAfter: Date.now() - 2000 },
      /^tls: x509: certificate has expired or is not yet valid: current time .*Z is after .*Z$/,
    ],
    [
      'a future validity',
      { notBefore: Date.now() + day / 2 },
      /^tls: x509: certificate has expired or is not yet valid: current time .*Z is before .*Z$/,
    ],
    [
      'client authentication only',
      { extendedKeyUsages: [clientAuth] },
      'tls: x509: certificate specifies an incompatible key usage',
    ],
    [
      'any extended key usage, which Go accepts',
      { extendedKeyUsages: ['2.5.29.37.0'] },
      'tls: x509: certificate specifies an incompatible key usage',
    ],
    ['an unknown critical extension', { unknownCritical: true }, 'tls: x509: unhandled critical extension'],
    [
      'a SHA-1 signature',
      { digest: 'sha1' },
      'tls: x509: certificate signed by unknown authority (possibly because of "x509: cannot verify signature: insecure algorithm ECDSA-SHA1" while trying to verify candidate authority certificate "hook.ns.svc")',
    ],
  ])('refuses a certificate with %s, before it sends the request', async (_, more, text) => {
    expect(await call(testCertificate({ ...serving, issuer: root, ...more }), root.cert)).toEqual(refused(text))
  })

  test('applies the same checks to a certificate that is its own CA bundle', async () => {
    const cases: [Partial<TestCertificate>, RegExp][] = [
      [{ notAfter: Date.now() - 2000 }, /expired/],
      [{ hosts: ['other'] }, /not hook.ns.svc$/],
      [{ extendedKeyUsages: [clientAuth] }, /incompatible key usage$/],
    ]
    for (const [more, text] of cases) {
      const self = testCertificate({ ...serving, ...more })
      expect(await call(self, self.cert)).toEqual(refused(text))
    }
  })

  test('refuses an address that the certificate does not have', async () => {
    const leaf = testCertificate({ ...serving, issuer: root })
    expect(await call(leaf, root.cert, { wanted: '127.0.0.1' })).toEqual(
      refused("tls: x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs"),
    )
    const other = testCertificate({ ...serving, hosts: ['10.0.0.1'], issuer: root })
    expect(await call(other, root.cert, { wanted: '127.0.0.1' })).toEqual(
      refused('tls: x509: certificate is valid for 10.0.0.1, not 127.0.0.1'),
    )
  })

  const unknown = 'tls: x509: certificate signed by unknown authority'
  const hint = (why: string): string =>
    `${unknown} (possibly because of "${why}" while trying to verify candidate authority certificate "hook.ns.svc")`

  test('refuses a CA with the right name and another key', async () => {
    const impostor = testCertificate(authority)
    expect(await call(testCertificate({ ...serving, issuer: impostor }), root.cert)).toEqual(
      refused(hint('x509: ECDSA verification failure')),
    )
  })

  test('refuses a self-signed certificate and a CA with another name', async () => {
    const self = testCertificate({ ...serving, subject: 'self' })
    expect(await call(self, root.cert)).toEqual(refused(unknown))
    const leaf = testCertificate({ ...serving, issuer: { ...root, subject: 'other' } })
    expect(await call(leaf, root.cert)).toEqual(refused(unknown))
  })

  test.each<[string, Partial<TestCertificate>, string]>([
    ['is no CA', { ca: false }, 'x509: invalid signature: parent certificate cannot sign this kind of certificate'],
    [
      'has no basic constraints',
      { ca: undefined as never },
      'x509: invalid signature: parent certificate cannot sign this kind of certificate',
    ],
    [
      'must not sign certificates',
      { keyUsage: 0x80 },
      'x509: invalid signature: parent certificate cannot sign this kind of certificate',
    ],
  ])('refuses a root that %s', async (_, more, why) => {
    const issuer = testCertificate({ ...authority, ...more })
    expect(await call(testCertificate({ ...serving, issuer }), issuer.cert)).toEqual(refused(hint(why)))
  })

  test('refuses an expired root', async () => {
    const issuer = testCertificate({ ...authority, notAfter: Date.now() - 2000 })
    expect(await call(testCertificate({ ...serving, issuer }), issuer.cert)).toEqual(refused(/because of .*expired/))
  })

  test('refuses a serving certificate as issuer of another one', async () => {
    const middle = testCertificate({ ...serving, issuer: root })
    const leaf = testCertificate({ ...serving, issuer: middle })
    for (const ca of [root.cert, middle.cert]) {
      expect(await call(leaf, ca, { intermediates: middle.cert })).toEqual(refused(/unknown authority/))
    }
  })

  test('refuses an intermediate of version 1 and accepts such a root', async () => {
    const old = testCertificate({ subject: 'hook.ns.svc', version: 1, issuer: root })
    const leaf = testCertificate({ ...serving, subject: 'server', issuer: old })
    expect(await call(leaf, root.cert, { intermediates: old.cert })).toEqual(refused(/unknown authority/))
    expect(await call(leaf, old.cert)).toEqual(accepted)
  })

  test('refuses more intermediates than the root permits', async () => {
    const strict = testCertificate({ ...authority, maxPathLength: 0 })
    const middle = testCertificate({ ...authority, subject: 'middle', issuer: strict })
    const leaf = testCertificate({ ...serving, issuer: middle })
    expect(await call(leaf, strict.cert, { intermediates: middle.cert })).toEqual(refused(/too many intermediates/))
    expect(await call(testCertificate({ ...serving, issuer: strict }), strict.cert)).toEqual(accepted)
  })

  test('refuses a chain whose CA permits client authentication only', async () => {
    const issuer = testCertificate({ ...authority, extendedKeyUsages: [clientAuth] })
    const leaf = testCertificate({ ...serving, subject: 'server', issuer })
    expect(await call(leaf, issuer.cert)).toEqual(refused('tls: x509: certificate specifies an incompatible key usage'))
    expect(await call(testCertificate({ ...serving, issuer }), issuer.cert)).toEqual(refused(unknown))
  })

  test('refuses names outside the name constraints of a CA', async () => {
    const narrow = testCertificate({ ...authority, permittedDomains: ['other.svc'] })
    expect(await call(testCertificate({ ...serving, subject: 'server', issuer: narrow }), narrow.cert)).toEqual(
      refused(
        'tls: x509: a root or intermediate certificate is not authorized to sign for this name: permitted subtree violation',
      ),
    )
    expect(await call(testCertificate({ ...serving, issuer: narrow }), narrow.cert)).toEqual(refused(unknown))
    const fitting = testCertificate({ ...authority, permittedDomains: ['ns.svc'] })
    expect(await call(testCertificate({ ...serving, subject: 'a b', issuer: fitting }), fitting.cert)).toEqual(accepted)
  })

  describe('with several paths to the root', () => {
    const leafOf = (issuer: IssuedTestCertificate): IssuedTestCertificate =>
      testCertificate({ ...serving, subject: 'server', issuer })
    const ca = testCertificate({ ...authority, subject: 'root' })
    const middle = testCertificate({ ...authority, subject: 'middle', issuer: ca })
    const leaf = leafOf(middle)
    /** The same intermediate, certified once more. */
    const again = (more: Partial<TestCertificate>): IssuedTestCertificate =>
      testCertificate({ ...authority, subject: 'middle', issuer: ca, sameKeyAs: middle, ...more })
    const stranger = testCertificate({ ...authority, subject: 'stranger' })

    test.each<[string, Partial<TestCertificate>]>([
      ['expired', { notAfter: Date.now() - 2000 }],
      ['leads to an unknown root', { issuer: stranger }],
      ['is no CA', { ca: false }],
      ['permits client authentication only', { extendedKeyUsages: [clientAuth] }],
      ['permits other names only', { permittedDomains: ['other.svc'] }],
      ['has an unknown critical extension', { unknownCritical: true }],
      ['has a SHA-1 signature', { digest: 'sha1' }],
    ])('accepts the valid path when the first one %s, and refuses the first alone', async (_, more) => {
      const bad = again(more)
      expect(await call(leaf, ca.cert, { intermediates: bad.cert + middle.cert })).toEqual(accepted)
      expect(await call(leaf, ca.cert, { intermediates: bad.cert })).toMatchObject({ requests: 0 })
    })

    test('trusts no certificate that the server presents', async () => {
      const forged = testCertificate({ ...authority, subject: 'middle', issuer: { ...stranger, subject: 'root' } })
      const mimic = testCertificate({ ...authority, subject: 'root' })
      const below = testCertificate({ ...authority, subject: 'middle', issuer: mimic })
      expect(await call(leafOf(forged), ca.cert, { intermediates: forged.cert })).toEqual(refused(/unknown authority/))
      expect(await call(leafOf(below), ca.cert, { intermediates: below.cert + mimic.cert })).toEqual(
        refused(/unknown authority/),
      )
      const served = leafOf(below)
      const chain = middle.cert + below.cert + mimic.cert + ca.cert
      expect(await call(served, ca.cert, { intermediates: chain })).toEqual(refused(/unknown authority/))
    })

    test('refuses an MD5 signature', async () => {
      const rsa = testCertificate({ ...authority, subject: 'rsa', keyType: 'rsa' })
      const weak = testCertificate({ ...serving, subject: 'server', issuer: rsa, digest: 'md5' })
      expect(await call(weak, rsa.cert)).toEqual(refused(/insecure algorithm MD5-RSA/))
      expect(await call(leafOf(rsa), rsa.cert)).toEqual(accepted)
    })

    test('stops after a limited number of paths', async () => {
      const bad = Array.from({ length: 20 }, () => again({ unknownCritical: true }).cert).join('')
      expect(await call(leaf, ca.cert, { intermediates: bad })).toMatchObject({ requests: 0 })
    })
  })

  test('an intermediate in the store of OpenSSL ends no chain unless partial chains are allowed', async () => {
    const ca = testCertificate({ ...authority, subject: 'root' })
    const middle = testCertificate({ ...authority, subject: 'middle', issuer: ca })
    const { cert, key } = testCertificate({ ...serving, subject: 'server', issuer: middle })
    const server = createServer({ cert, key }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    servers.push(server)
    const { port } = server.address() as AddressInfo
    const authorized = async (allowPartialTrustChain: boolean): Promise<boolean> => {
      const options = { port, ca: middle.cert, allowPartialTrustChain, rejectUnauthorized: false, servername: host }
      const socket = connect(options)
      await once(socket, 'secureConnect')
      socket.destroy()
      return socket.authorized
    }
    expect([await authorized(false), await authorized(true)]).toEqual([false, true])
  })

  test('stops a handshake that the peer never finishes when the signal aborts', async () => {
    const sockets: Socket[] = []
    const silent = createTcp((socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    servers.push(silent)
    const stop = new AbortController()
    const { port } = silent.address() as AddressInfo
    const url = new URL(`https://127.0.0.1:${port}/`)
    const failure = systemOutgoing({ method: 'GET', url, headers: {}, tls: { ca: root.cert }, signal: stop.signal })
    const [socket] = (await once(silent, 'connection')) as [Socket]
    const closed = once(socket.resume(), 'close')
    stop.abort(new Error('context deadline exceeded'))
    await expect(failure).rejects.toThrow('context deadline exceeded')
    await closed
  })
})
