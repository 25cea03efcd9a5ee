import { once } from 'node:events'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { systemClock } from '@kubewright/base'
import { afterAll, describe, expect, test } from 'vitest'
import { systemOutgoing } from '../outgoing/outgoing.ts'
import { WebhookClient } from '../outgoing/webhook-client.ts'
import { type IssuedTestCertificate, testCertificate } from '../testdata/test-certificates.ts'
import type { RemoteApiService } from './api-service-condition.ts'
import { aggregatorUser, ExtensionServers } from './extension-servers.ts'

const servers: Server[] = []
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

async function serve({ cert, key }: IssuedTestCertificate): Promise<{ host: string; port: number }> {
  const server = createServer({ cert, key }, (_, response) => void response.end('{}'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  servers.push(server)
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
}

/** Calls the Service `hook` in the namespace `ns`, which the address belongs to. Both resolve when the request succeeded. */
const clients = {
  async APIService(address: { host: string; port: number }, ca: string): Promise<void> {
    const extensions = new ExtensionServers({
      outgoing: systemOutgoing,
      resolveService: async () => address,
      clock: systemClock,
    })
    const spec = { service: { namespace: 'ns', name: 'hook' }, caBundle: Buffer.from(ca).toString('base64') }
    const { signal } = new AbortController()
    const request = { method: 'GET', target: '/apis', user: aggregatorUser, signal }
    const { body } = await extensions.send({ spec } as unknown as RemoteApiService, request)
    for await (const _ of body);
  },
  async webhook(address: { host: string; port: number }, ca: string): Promise<void> {
    const client = new WebhookClient({
      outgoing: systemOutgoing,
      resolveService: async () => address,
      clock: systemClock,
    })
    const caBundle = Buffer.from(ca).toString('base64')
    await client.call({ service: { namespace: 'ns', name: 'hook' }, caBundle }, Buffer.from('{}'))
  },
}

describe.each(['APIService', 'webhook'] as const)('TLS to the server of an %s', (kind) => {
  const ca = testCertificate({ subject: 'hook.ns.svc', ca: true, keyUsage: 0x84 })

  test('accepts a certificate with the subject of its CA and without key identifiers', async () => {
    const leaf = testCertificate({ subject: 'hook.ns.svc', hosts: ['hook.ns.svc'], issuer: ca })
    await clients[kind](await serve(leaf), ca.cert)
  })

  test('accepts a CA bundle that is the serving certificate', async () => {
    const self = testCertificate({ subject: 'x', hosts: ['hook.ns.svc'] })
    await clients[kind](await serve(self), self.cert)
  })

  test('refuses another name and another CA', async () => {
    const other = testCertificate({ subject: 'hook.ns.svc', hosts: ['other.ns.svc'], issuer: ca })
    await expect(clients[kind](await serve(other), ca.cert)).rejects.toThrow(
      'tls: failed to verify certificate: x509: certificate is valid for other.ns.svc, not hook.ns.svc',
    )
    const leaf = testCertificate({ subject: 'hook.ns.svc', hosts: ['hook.ns.svc'], issuer: ca })
    const impostor = testCertificate({ subject: 'hook.ns.svc', ca: true, keyUsage: 0x84 })
    await expect(clients[kind](await serve(leaf), impostor.cert)).rejects.toThrow(
      'x509: certificate signed by unknown authority',
    )
  })
})
