import { once } from 'node:events'
import { CertificateAuthority } from '@kubewright/base/pki'
import { MemoryStore } from '@kubewright/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiServiceController } from './aggregation/api-service-controller.ts'
import { createAggregation } from './aggregation/create-aggregation.ts'
import { createFrontProxyIdentity } from './aggregation/front-proxy.ts'
import { readText } from './aggregation/remote-discovery.ts'
import type { ApiServer } from './api-server.ts'
import { DiscoveryIndex } from './discovery/discovery-index.ts'
import { discoveryPaths } from './discovery/discovery-paths.ts'
import { createExtensionServer } from './extension-server.ts'
import { type Listener, listen } from './http/listener/listener.ts'
import { systemOutgoing } from './outgoing/outgoing.ts'
import { respond } from './request/respond.ts'
import { PlainServer } from './testdata/plain-server.ts'

const group = 'hello.example.com'
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices'
const greetings = `/apis/${group}/v1/namespaces/default/greetings`
const now = Date.now()
const frontProxy = createFrontProxyIdentity(now)
const servingCa = CertificateAuthority.create({ commonName: 'serving', now })
const otherCa = CertificateAuthority.create({ commonName: 'other', now })
const openAPIV3Schema = {
  type: 'object',
  properties: { spec: { type: 'object', properties: { to: { type: 'string' } } } },
}
const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }
const names = { plural: 'greetings', kind: 'Greeting', shortNames: ['hi'] }

let extension: ApiServer
let listener: Listener
let server: PlainServer
let controller: ApiServiceController
beforeAll(async () => {
  extension = await createExtensionServer({
    store: new MemoryStore(),
    resources: [{ spec: { group, scope: 'Namespaced', names, versions: [version] } }],
    paths: [
      async ({ info, request }) =>
        info.resource === 'echo' && request.headers['upgrade'] === 'echo/1'
          ? {
              status: 101,
              headers: { connection: 'Upgrade', upgrade: 'echo/1' },
              upgraded: (connection) => connection.pipe(connection),
            }
          : undefined,
      async ({ info, user, request }) =>
        info.resource === 'whoami'
          ? respond(200, {
              user,
              path: request.path,
              agent: request.headers['user-agent'],
              token: request.headers['authorization'],
            })
          : undefined,
    ],
  })
  const { cert, key } = new CertificateAuthority(servingCa).issueServing({ now, hosts: ['hello.default.svc'] })
  listener = await listen({ handler: extension.handler, cert, key, clientCas: [frontProxy.ca] })
  server = await PlainServer.start([], async (parts) => {
    const discovery = new DiscoveryIndex(parts.resources)
    const resolveService = async () => ({ host: '127.0.0.1', port: listener.port })
    const aggregation = createAggregation(parts, discovery, { frontProxy, resolveService })
    controller = aggregation.controller
    controller.start()
    return { paths: [aggregation.paths, discoveryPaths(discovery)] }
  })
  await server.send('POST /api/v1/namespaces/default/services', {
    body: { metadata: { name: 'hello' }, spec: { type: 'ExternalName', externalName: 'localhost' } },
  })
  await register('v1', servingCa.cert)
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await listener[Symbol.asyncDispose]()
  await extension[Symbol.asyncDispose]()
})

async function register(of: string, ca: string): Promise<void> {
  const service = { name: 'hello', namespace: 'default', port: 443 }
  const caBundle = Buffer.from(ca).toString('base64')
  await server.send(`POST ${apiServices}`, {
    body: {
      metadata: { name: `${of}.${group}` },
      spec: { group, version: of, groupPriorityMinimum: 1000, versionPriority: 15, service, caBundle },
    },
  })
  await settle()
}

/** Waits until the controller has processed all writes. */
async function settle(): Promise<void> {
  const { feed, store } = server.server.parts.registry
  for (let i = 0; i < 4; i++) {
    await feed.reached(await store.revision())
    await controller.idle()
  }
}

const conditionOf = async (name: string): Promise<object> =>
  (await server.send(`GET ${apiServices}/${name}`)).body.status.conditions[0]

/** The body of a proxied response, or its beginning when the client disconnects early. */
async function send(
  line: string,
  options: { body?: unknown; headers?: Record<string, string>; leaves?: boolean } = {},
): Promise<{ status: number; text: string }> {
  const [method = '', target = ''] = line.split(' ')
  const [path = '', query = ''] = target.split('?')
  const client = new AbortController()
  const response = await server.server.handler({
    method,
    path,
    query: new URLSearchParams(query),
    headers: { 'content-type': 'application/json', 'user-agent': 'test', ...options.headers },
    body: async () => Buffer.from(options.body === undefined ? '' : JSON.stringify(options.body)),
    signal: client.signal,
    peer: { address: '10.1.2.3' },
  })
  if (typeof response.body !== 'function') {
    return { status: response.status, text: Buffer.from(response.body ?? []).toString() }
  }
  let text = ''
  await response.body({
    write: (chunk) => {
      text += Buffer.from(chunk).toString()
      if (options.leaves) client.abort()
      return true
    },
    drained: async () => undefined,
  })
  return { status: response.status, text }
}

describe('an extension server behind an APIService', () => {
  test('is available once it responds to discovery', async () => {
    expect(await conditionOf(`v1.${group}`)).toMatchObject({
      type: 'Available',
      status: 'True',
      reason: 'Passed',
      message: 'all checks passed',
    })
  })

  test('serves proxied requests', async () => {
    const body = { apiVersion: `${group}/v1`, kind: 'Greeting', metadata: { name: 'a' }, spec: { to: 'you', no: 1 } }
    const created = await send(`POST ${greetings}`, { body })
    expect(created.status).toBe(201)
    expect(JSON.parse(created.text)).toMatchObject({ metadata: { name: 'a', generation: 1 }, spec: { to: 'you' } })
    const list = await send(`GET ${greetings}?limit=5`)
    expect(JSON.parse(list.text)).toMatchObject({ kind: 'GreetingList', items: [{ metadata: { name: 'a' } }] })
    expect(await send(`GET ${greetings}/b`)).toMatchObject({ status: 404 })
  })

  test('streams watches', async () => {
    const { text } = await send(`GET ${greetings}?watch=1`, { leaves: true })
    expect(JSON.parse(text.split('\n')[0]!)).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'a' } } })
  })

  test('supports protocol upgrades', async () => {
    const { cert, key } = new CertificateAuthority(servingCa).issueServing({ now })
    const front = await listen({ handler: server.server.handler, cert, key, clientCas: [] })
    const upgrade = async (path: string, protocol: string) => {
      const headers = { connection: 'Upgrade', upgrade: protocol }
      const url = new URL(`https://127.0.0.1:${front.port}${path}`)
      return systemOutgoing({ method: 'GET', url, headers, upgrade: true, tls: { ca: servingCa.cert } })
    }
    const { status, headers, upgraded } = await upgrade(`/apis/${group}/v1/echo`, 'echo/1')
    expect([status, headers['upgrade']]).toEqual([101, ['echo/1']])
    upgraded!.write('hello')
    expect(String((await once(upgraded!, 'data'))[0])).toBe('hello')
    upgraded!.end()
    await once(upgraded!, 'close')

    const refused = await upgrade(`/apis/${group}/v1/echo`, 'other/1')
    expect([refused.status, refused.upgraded]).toEqual([404, undefined])
    await readText(refused)
    const plain = await upgrade('/api/v1/namespaces', 'echo/1')
    expect([plain.status, JSON.parse(await readText(plain)).kind]).toEqual([200, 'NamespaceList'])
    await front[Symbol.asyncDispose]()
  })

  test('receives the user but not the credentials', async () => {
    const headers = { authorization: 'Bearer secret', 'x-remote-user': 'mallory', 'x-remote-group': 'system:masters' }
    const { text } = await send(`GET /apis/${group}/v1/whoami`, { headers })
    expect(JSON.parse(text)).toEqual({
      user: { name: 'root', groups: ['system:masters', 'system:authenticated'] },
      path: `/apis/${group}/v1/whoami`,
      agent: 'test',
    })
  })

  test('receives exactly the authorized path', async () => {
    const path = `/apis/${group}/v1/whoami/..%2F../%2e%2e/../namespaces`
    expect(JSON.parse((await send(`GET ${path}?a=1`)).text)).toMatchObject({ path })
  })

  test('trusts only the proxy', async () => {
    const url = new URL(`https://127.0.0.1:${listener.port}${greetings}`)
    const headers = { 'x-remote-user': 'root', 'x-remote-group': 'system:masters' }
    const answer = await systemOutgoing({ method: 'GET', url, headers, tls: { insecure: true } })
    expect(answer.status).toBe(403)
    expect(JSON.parse(await readText(answer)).message).toContain('User "system:anonymous" cannot list resource')
  })

  test('is part of legacy and aggregated discovery', async () => {
    const { body } = await server.send(`GET /apis/${group}`)
    expect(body).toMatchObject({ kind: 'APIGroup', preferredVersion: { groupVersion: `${group}/v1` } })
    expect(JSON.parse((await send(`GET /apis/${group}/v1`)).text).resources[0]).toMatchObject({ name: 'greetings' })
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
    const all = await server.send('GET /apis', { headers: { accept } })
    const found = all.body.items.find((item: { metadata: { name: string } }) => item.metadata.name === group)
    expect(found.versions).toMatchObject([
      { version: 'v1', freshness: 'Current', resources: [{ resource: 'greetings', shortNames: ['hi'] }] },
    ])
  })

  test('is not contacted when its certificate does not match the APIService', async () => {
    await register('v2', otherCa.cert)
    expect(await conditionOf(`v2.${group}`)).toMatchObject({ reason: 'FailedDiscoveryCheck' })
    await server.send(`DELETE ${apiServices}/v2.${group}`)
    const path = `${apiServices}/v1.${group}`
    const headers = { 'content-type': 'application/merge-patch+json' }
    const caBundle = Buffer.from(otherCa.cert).toString('base64')
    await server.send(`PATCH ${path}`, { body: { spec: { caBundle } }, headers })
    await settle()
    expect(await send(`GET ${greetings}`)).toEqual({
      status: 503,
      text: 'error trying to reach service: tls: failed to verify certificate: x509: certificate signed by unknown authority\n',
    })
    const right = Buffer.from(servingCa.cert).toString('base64')
    await server.send(`PATCH ${path}`, { body: { spec: { caBundle: right } }, headers })
    await settle()
    expect((await send(`GET ${greetings}`)).status).toBe(200)
  })

  test('becomes unavailable without any change of an object', async () => {
    const { port } = listener
    await listener[Symbol.asyncDispose]()
    await server.clock.advance(30_000)
    await settle()
    const url = `https://127.0.0.1:${port}/apis/${group}/v1`
    expect(await conditionOf(`v1.${group}`)).toMatchObject({
      status: 'False',
      reason: 'FailedDiscoveryCheck',
      message: `failing or missing response from ${url}: Get "${url}": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    })
    expect(await send(`GET ${greetings}`)).toEqual({ status: 503, text: 'service unavailable\n' })
    await server.send(`DELETE ${apiServices}/v1.${group}`)
    await settle()
    expect(await send(`GET ${greetings}`)).toEqual({ status: 404, text: '404 page not found\n' })
  })
})
