import { systemClock, VirtualClock } from '@kubewright/base'
import { CertificateAuthority } from '@kubewright/base/pki'
import { expect, test } from 'vitest'
import { LocalServers } from './local-servers.ts'
import { type Outgoing, OutgoingError, type OutgoingRequest } from './outgoing.ts'
import { WebhookClient } from './webhook-client.ts'

const body = Buffer.from('{}')
const nowhere: Outgoing = async () => {
  throw new OutgoingError('dial tcp: no')
}

function clientOf(outgoing: Outgoing): WebhookClient {
  const resolveService = async () => ({ host: '10.0.0.1', port: 8443 })
  return new WebhookClient({ outgoing, resolveService, clock: systemClock })
}

test('WebhookClient.call() connects to the endpoint and sends the name of the service', async () => {
  const asked: OutgoingRequest[] = []
  const client = clientOf(async (request) => {
    asked.push(request)
    return {
      status: 200,
      headers: {},
      body: (async function* () {
        yield Buffer.from('ok')
      })(),
    }
  })
  const service = { namespace: 'ns', name: 'svc', path: '/p', port: 99 }
  const { cert } = CertificateAuthority.create({ commonName: 'ca', now: 0 })
  const caBundle = Buffer.from(cert).toString('base64')
  expect(Buffer.from(await client.call({ service, caBundle }, body, { timeoutSeconds: 7 })).toString()).toBe('ok')
  expect(asked[0]!.url.href).toBe('https://svc.ns.svc:99/p?timeout=7s')
  expect(asked[0]!.tls).toEqual({ ca: cert })
  expect(await asked[0]!.connectTo!()).toEqual({ host: '10.0.0.1', port: 8443 })
})

test('WebhookClient.call() names the address that refused the connection', async () => {
  await expect(clientOf(nowhere).call({ url: 'https://x.example.com/a' }, body)).rejects.toThrow(
    'Post "https://x.example.com/a": dial tcp: no',
  )
  await expect(clientOf(nowhere).call({}, body)).rejects.toThrow(
    'webhook configuration must have either service or URL',
  )
})

test('WebhookClient.call() limits the size of responses', async () => {
  const endless = async function* (): AsyncGenerator<Uint8Array> {
    for (;;) yield new Uint8Array(1024 * 1024)
  }
  const client = clientOf(async () => ({ status: 200, headers: {}, body: endless() }))
  await expect(client.call({ url: 'https://x/' }, body)).rejects.toThrow('response body larger than 16777216 bytes')
})

test('WebhookClient.call() rejects when the caller aborts or the timeout passes', async () => {
  const local = new LocalServers()
  local.serve('x:443', () => new Promise(() => undefined))
  const clock = new VirtualClock()
  const resolveService = async () => ({ host: '', port: 0 })
  const client = new WebhookClient({ outgoing: local.before(nowhere), resolveService, clock })
  const stop = new AbortController()
  const canceled = client.call({ url: 'https://x/' }, body, { signal: stop.signal })
  stop.abort()
  await expect(canceled).rejects.toThrow('Post "https://x/": context canceled')
  const late = expect(client.call({ url: 'https://x/' }, body, { timeoutSeconds: 2 })).rejects.toThrow(
    'Post "https://x/?timeout=2s": context deadline exceeded',
  )
  await clock.advance(2000)
  await late
})

test('LocalServers.serve() serves until disposed', async () => {
  const local = new LocalServers()
  const client = clientOf(local.before(nowhere))
  const serving = local.serve('x:443', ({ path }) => ({ status: 200, body: Buffer.from(path) }))
  expect(Buffer.from(await client.call({ url: 'https://x/a' }, body)).toString()).toBe('/a')
  serving[Symbol.dispose]()
  await expect(client.call({ url: 'https://x/a' }, body)).rejects.toThrow('dial tcp: no')
})

test.each([
  ['no PEM', 'unable to parse bytes as PEM block'],
  ['-----BEGIN KEY-----\nAA==\n-----END KEY-----\n', 'no valid certificate authority data seen'],
  ['-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n', 'failed to parse certificate'],
])('WebhookClient.call() rejects invalid CA bundles: %j', async (pem, why) => {
  const caBundle = Buffer.from(pem).toString('base64')
  await expect(clientOf(nowhere).call({ url: 'https://x/', caBundle }, body)).rejects.toThrow(
    `unable to load root certificates: ${why}`,
  )
})
