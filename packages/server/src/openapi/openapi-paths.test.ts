import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { standardExtensions } from '../standard-extensions.ts'
import { customResource } from '../testdata/custom-resource.ts'
import { PlainServer } from '../testdata/plain-server.ts'

let server: PlainServer
beforeAll(async () => {
  server = await PlainServer.start([], standardExtensions)
})
afterAll(() => server[Symbol.asyncDispose]())

const lease = '/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}'

describe('openApiPaths() version 3', () => {
  test('serves an index whose links can be cached forever', async () => {
    const index = JSON.parse((await server.send('GET /openapi/v3')).text)
    const { serverRelativeURL } = index.paths['apis/coordination.k8s.io/v1']
    expect(serverRelativeURL).toMatch(/^\/openapi\/v3\/apis\/coordination\.k8s\.io\/v1\?hash=[0-9A-F]{128}$/)
    const answer = await server.send(`GET ${serverRelativeURL}`)
    expect(answer.headers).toMatchObject({
      'cache-control': 'public, immutable',
      expires: 'Sat, 02 Jan 2027 03:04:05 GMT',
    })
    expect(answer.body.info).toEqual({ title: 'Kubernetes', version: '1.35' })
  })

  test('serves a range of a document', async () => {
    const whole = await server.send('GET /openapi/v3')
    const size = Buffer.byteLength(whole.text)
    const part = await server.send('GET /openapi/v3', { headers: { range: 'bytes=2-6' } })
    expect([part.status, part.headers['content-range'], part.text]).toEqual([206, `bytes 2-6/${size}`, 'paths'])
    const beyond = await server.send('GET /openapi/v3', { headers: { range: `bytes=${size}-` } })
    expect([beyond.status, beyond.headers['content-range']]).toEqual([416, `bytes */${size}`])
    expect(beyond.text).toBe('invalid range: failed to overlap\n')
  })

  test('redirects an outdated hash to the current one', async () => {
    const answer = await server.send('GET /openapi/v3/apis/apps/v1?hash=OLD')
    expect(answer.status).toBe(301)
    expect(answer.headers['location']).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]{128}$/)
  })

  test('describes operations with the extensions that clients read', async () => {
    const { paths, components } = (await server.send('GET /openapi/v3/apis/coordination.k8s.io/v1')).body
    expect(paths[lease].patch).toMatchObject({
      operationId: 'patchCoordinationV1NamespacedLease',
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' },
    })
    const names = paths[lease].patch.parameters.map(({ name }: { name: string }) => name)
    expect(names).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force'])
    expect(Object.keys(components.schemas)).toContain('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta')
  })

  test('describes built-in kinds and their fields', async () => {
    const { components } = (await server.send('GET /openapi/v3/apis/apps/v1')).body
    const { description, properties } = components.schemas['io.k8s.api.apps.v1.DeploymentSpec']
    expect(description).toBe('Desired state of a Deployment.')
    expect(properties.replicas.description).toBe('Number of pods to run; 1 by default.')
  })

  test('contains every definition that it references', async () => {
    const { text, body } = await server.send('GET /openapi/v3/api/v1')
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      expect(body.components.schemas).toHaveProperty([name!])
    }
  })

  test.each(['apis/nosuch.example.com/v1', 'apis/apps/v1/deployments', 'nonsense', 'api/v2'])(
    'has no document %s',
    async (name) => {
      const { status, text } = await server.send(`GET /openapi/v3/${name}`)
      expect([status, text]).toEqual([404, ''])
    },
  )

  test('publishes custom resources and changes only their document', async () => {
    const { resources } = server.server.parts
    const before = JSON.parse((await server.send('GET /openapi/v3')).text).paths
    resources.set(
      customResource('v1', {
        type: 'object',
        properties: { spec: { type: 'object', properties: { size: { 'x-kubernetes-int-or-string': true } } } },
      }),
    )
    const after = JSON.parse((await server.send('GET /openapi/v3')).text).paths
    expect(
      Object.keys(after).filter((name) => after[name].serverRelativeURL !== before[name]?.serverRelativeURL),
    ).toEqual(['apis/shop.example.com/v1'])
    const { info, paths, components } = (await server.send('GET /openapi/v3/apis/shop.example.com/v1')).body
    expect(info).toEqual({ title: 'Kubernetes CRD Swagger', version: 'v0.1.0' })
    expect(components).not.toHaveProperty('securitySchemes')
    expect(components.schemas['com.example.shop.v1.Widget']).toMatchObject({
      properties: {
        metadata: { allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }] },
        spec: { properties: { size: { anyOf: [{ type: 'integer' }, { type: 'string' }] } } },
      },
      'x-kubernetes-group-version-kind': [{ group: 'shop.example.com', version: 'v1', kind: 'Widget' }],
    })
    const path = '/apis/shop.example.com/v1/namespaces/{namespace}/widgets/{name}'
    expect(paths[`${path}/status`].get.operationId).toBe('readShopExampleComV1NamespacedWidgetStatus')
    expect(Object.keys(paths[path].patch.requestBody.content)).not.toContain('application/strategic-merge-patch+json')
    expect(Object.keys(paths[path].put.requestBody.content)).toEqual(['application/json', 'application/yaml'])
    expect(Object.keys(paths[path].get.responses[200].content)).toEqual(['application/json', 'application/yaml'])
    expect(paths[path].get.parameters.map(({ name }: { name: string }) => name)).toEqual(['resourceVersion'])
    const everywhere = paths['/apis/shop.example.com/v1/widgets']
    expect(everywhere.get).not.toHaveProperty('parameters')
    expect(everywhere.parameters.map(({ name }: { name: string }) => name)).toContain('labelSelector')
    resources.delete('shop.example.com', 'v1', 'widgets')
    expect((await server.send('GET /openapi/v3/apis/shop.example.com/v1')).status).toBe(404)
  })
})

describe('openApiPaths() version 2', () => {
  test('serves JSON and 304 for a known ETag', async () => {
    const answer = await server.send('GET /openapi/v2')
    expect(answer.body).toMatchObject({ swagger: '2.0', info: { title: 'Kubernetes', version: '1.35' } })
    expect(answer.body.paths[lease].get.operationId).toBe('readCoordinationV1NamespacedLease')
    const headers = { 'if-none-match': String(answer.headers['etag']) }
    expect((await server.send('GET /openapi/v2', { headers })).status).toBe(304)
  })

  test('serves protobuf for both names of the media type', async () => {
    for (const sign of ['@', '.']) {
      const accept = `application/com.github.proto-openapi.spec.v2${sign}v1.0+protobuf`
      const answer = await server.send('GET /openapi/v2', { headers: { accept } })
      expect(answer.headers['content-type']).toBe('application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
      expect(answer.text.startsWith('\n\u00032.0\u0012')).toBe(true)
    }
  })

  test('rejects other media types', async () => {
    expect((await server.send('GET /openapi/v2', { headers: { accept: 'text/html' } })).status).toBe(406)
  })
})
