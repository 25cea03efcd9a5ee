import { type ListRequest, MemoryStore, type Page } from '@kubewright/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { customResource } from '../testdata/custom-resource.ts'
import { PlainServer } from '../testdata/plain-server.ts'
import type { AggregationParts } from './aggregation-parts.ts'
import type { ApiServiceController } from './api-service-controller.ts'
import { createAggregation } from './create-aggregation.ts'

let server: PlainServer
let controller: ApiServiceController
beforeAll(async () => {
  server = await PlainServer.start([], async (parts) => {
    const aggregation = createAggregation(parts, undefined)
    controller = aggregation.controller
    controller.start()
    return { paths: [aggregation.paths] }
  })
})
afterAll(() => server[Symbol.asyncDispose]())

const path = '/apis/apiregistration.k8s.io/v1/apiservices'
/** Waits until the controller has processed all writes. */
const settle = async (): Promise<void> => {
  const { feed, store } = server.server.parts.registry
  for (let i = 0; i < 3; i++) {
    await feed.reached(await store.revision())
    await controller.idle()
  }
}
const conditionOf = async (name: string): Promise<object> =>
  (await server.send(`GET ${path}/${name}`)).body.status.conditions[0]

/** Fails the first list of APIServices, as an etcd does that responds too late. */
class LateStore extends MemoryStore {
  #lists = 0

  override async list(request: ListRequest): Promise<Page> {
    if (request.prefix === '/registry/apiservices/' && this.#lists++ === 0) throw new Error('no response in time')
    return super.list(request)
  }
}

describe('ApiServiceController', () => {
  test('follows APIServices although the store failed when the server started', async () => {
    let late: ApiServiceController | undefined
    const setup = async (parts: AggregationParts): Promise<undefined> => {
      late = createAggregation(parts, undefined).controller
      late.start()
      // The failed list must not be that of the server, which would end the start.
      await late.idle()
    }
    await using plain = await PlainServer.start([], setup, new LateStore())
    await plain.clock.advance(1000)
    const service = { name: 's', namespace: 'n', port: 443 }
    const spec = { group: 'far.example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1, service }
    await plain.send(`POST ${path}`, { body: { metadata: { name: 'v1.far.example.com' }, spec } })
    const { feed, store } = plain.server.parts.registry
    await feed.reached(await store.revision())
    await late!.idle()
    const { body } = await plain.send(`GET ${path}/v1.far.example.com`)
    expect(body.status.conditions).toMatchObject([{ status: 'False', reason: 'ServiceNotFound' }])
  })

  test('creates APIServices for served custom resources and deletes them afterwards', async () => {
    const { resources } = server.server.parts
    resources.set(customResource('v1', { type: 'object' }))
    await settle()
    expect((await server.send(`GET ${path}/v1.shop.example.com`)).body).toMatchObject({
      metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'true' } },
      spec: { group: 'shop.example.com', version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 },
      status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
    })
    const headers = { 'content-type': 'application/merge-patch+json' }
    await server.send(`PATCH ${path}/v1.shop.example.com`, { body: { spec: { versionPriority: 7 } }, headers })
    await settle()
    expect((await server.send(`GET ${path}/v1.shop.example.com`)).body.spec.versionPriority).toBe(100)
    resources.delete('shop.example.com', 'v1', 'widgets')
    await settle()
    expect((await server.send(`GET ${path}/v1.shop.example.com`)).status).toBe(404)
  })

  test('reports each missing part of a service and responds with 503 until it is available', async () => {
    const spec = { group: 'far.example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 }
    const service = { name: 's', namespace: 'n', port: 443 }
    await server.send(`POST ${path}`, {
      body: { metadata: { name: 'v1.far.example.com' }, spec: { ...spec, service } },
    })
    await settle()
    expect(await conditionOf('v1.far.example.com')).toMatchObject({
      status: 'False',
      reason: 'ServiceNotFound',
      message: 'service/s in "n" is not present',
    })
    const refused = await server.send('GET /apis/far.example.com/v1/things')
    expect([refused.status, refused.text]).toEqual([503, 'service unavailable\n'])

    const ports = [{ name: 'https', port: 80 }]
    await server.send('POST /api/v1/namespaces/n/services', { body: { metadata: { name: 's' }, spec: { ports } } })
    await settle()
    expect(await conditionOf('v1.far.example.com')).toMatchObject({ reason: 'ServicePortError' })

    await server.send('PATCH /api/v1/namespaces/n/services/s', {
      body: { spec: { ports: [{ name: 'https', port: 443 }] } },
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    await settle()
    expect(await conditionOf('v1.far.example.com')).toMatchObject({
      reason: 'EndpointsNotFound',
      message: 'cannot find endpointslices for service/s in "n"',
    })

    // A program on this machine needs no endpoints. The text names no port, so the check ends before it connects.
    await server.send('PATCH /api/v1/namespaces/n/services/s', {
      body: { metadata: { annotations: { 'kubewright.dev/local-address': 'no port' } } },
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    await settle()
    expect(await conditionOf('v1.far.example.com')).toMatchObject({
      reason: 'FailedDiscoveryCheck',
      message: expect.stringContaining('invalid annotation kubewright.dev/local-address'),
    })

    await server.send(`PATCH ${path}/v1.far.example.com`, {
      body: { spec: { service: null } },
      headers: { 'content-type': 'application/merge-patch+json' },
    })
    await settle()
    expect(await conditionOf('v1.far.example.com')).toMatchObject({ status: 'True', reason: 'Local' })

    await server.send(`DELETE ${path}/v1.far.example.com`)
    await settle()
    expect((await server.send('GET /apis/far.example.com/v1/things')).status).toBe(404)
  })
})
