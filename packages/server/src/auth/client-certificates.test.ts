import { once } from 'node:events'
import { connect } from 'node:http2'
import { request } from 'node:https'
import { CertificateAuthority, type KeyedCertificate } from '@kubewright/base/pki'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Listener, listen } from '../http/listener/listener.ts'
import { respond } from '../request/respond.ts'
import { authenticate } from './authenticate.ts'
import { clientCertificates } from './client-certificates.ts'

const now = Date.now()
const ca = CertificateAuthority.create({ commonName: 'ca', now })
const other = CertificateAuthority.create({ commonName: 'ca', now })
const authority = new CertificateAuthority(ca)
let listener: Listener

beforeAll(async () => {
  const serving = authority.issueServing({ now })
  listener = await listen({
    ...serving,
    clientCas: [ca.cert],
    handler: async (received) => {
      try {
        return respond(200, await authenticate([clientCertificates], received))
      } catch {
        return respond(401, {})
      }
    },
  })
})
afterAll(() => listener[Symbol.asyncDispose]())

/** Sends a request over HTTP/1.1, optionally with a client certificate. */
async function get(client?: KeyedCertificate): Promise<{ status: number | undefined; body: unknown }> {
  const sent = request({ host: '127.0.0.1', port: listener.port, ca: ca.cert, agent: false, ...client })
  sent.end()
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode, body: JSON.parse(text) }
}

describe('clientCertificates', () => {
  test('authenticate user and groups over HTTP/1.1', async () => {
    const { body } = await get(authority.issueClient({ commonName: 'jane', organizations: ['a', 'b'], now }))
    expect(body).toMatchObject({ name: 'jane', groups: ['a', 'b', 'system:authenticated'] })
    expect(JSON.stringify(body)).toMatch(/X509SHA256=[0-9a-f]{64}"/)
  })

  test('authenticate the user over HTTP/2', async () => {
    const client = authority.issueClient({ commonName: 'jane', now })
    const session = connect(`https://127.0.0.1:${listener.port}`, { ca: ca.cert, ...client })
    const stream = session.request({ ':path': '/' })
    let text = ''
    for await (const chunk of stream) text += chunk
    session.destroy()
    expect(JSON.parse(text)).toMatchObject({ name: 'jane', groups: ['system:authenticated'] })
  })

  test('are optional', async () => {
    expect((await get()).body).toEqual({ name: 'system:anonymous', groups: ['system:unauthenticated'] })
  })

  test.each<[string, KeyedCertificate]>([
    [
      'of another CA',
      new CertificateAuthority(other).issueClient({ commonName: 'root', organizations: ['system:masters'], now }),
    ],
    ['that have expired', authority.issueClient({ commonName: 'jane', now: now - 1000 * 60 * 60 * 24 * 400 })],
    ['of servers', authority.issueServing({ now })],
  ])('%s are rejected', async (_, client) => {
    expect((await get(client)).status).toBe(401)
  })
})
