import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { standardExtensions } from '../standard-extensions.ts'
import { customResource } from '../testdata/custom-resource.ts'
import { PlainServer } from '../testdata/plain-server.ts'

let server: PlainServer
beforeAll(async () => {
  server = await PlainServer.start([], standardExtensions)
})
afterAll(() => server[Symbol.asyncDispose]())

const v2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'
const v2beta1 = 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList'
const yes = { headers: { accept: v2 } }

describe('discoveryPaths()', () => {
  test('serves /api without an apiVersion and with the address that the client used', async () => {
    const { body } = await server.send('GET /api', { headers: { host: '10.1.2.3:6443' } })
    expect(body).toEqual({
      kind: 'APIVersions',
      versions: ['v1'],
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '10.1.2.3:6443' }],
    })
  })

  test('lists groups by priority, preferred versions first', async () => {
    const { body } = await server.send('GET /apis')
    const names = body.groups.map((group: { name: string }) => group.name)
    expect(names.slice(0, 5)).toEqual([
      'apiregistration.k8s.io',
      'apps',
      'events.k8s.io',
      'authentication.k8s.io',
      'authorization.k8s.io',
    ])
    expect((await server.send('GET /apis/autoscaling')).body).toEqual({
      kind: 'APIGroup',
      apiVersion: 'v1',
      name: 'autoscaling',
      versions: [
        { groupVersion: 'autoscaling/v2', version: 'v2' },
        { groupVersion: 'autoscaling/v1', version: 'v1' },
      ],
      preferredVersion: { groupVersion: 'autoscaling/v2', version: 'v2' },
    })
  })

  test('names the group of a subresource with another kind', async () => {
    const { body } = await server.send('GET /apis/apps/v1')
    const found = body.resources.filter(({ name }: { name: string }) => name.startsWith('deployments'))
    expect(found).toMatchObject([
      { name: 'deployments', singularName: 'deployment', namespaced: true, storageVersionHash: '8aSe+NMegvE=' },
      { name: 'deployments/scale', group: 'autoscaling', version: 'v1', kind: 'Scale', singularName: '' },
      { name: 'deployments/status', kind: 'Deployment' },
    ])
    expect(found[2]).not.toHaveProperty('version')
  })

  test.each([
    ['GET /apis/nosuch.example.com', 404, '404 page not found\n'],
    ['GET /apis/nosuch.example.com/v1', 404, '404 page not found\n'],
    ['GET /apis/nosuch.example.com/v1/things', 404, '404 page not found\n'],
    ['GET /apis/apps/v9', 404, /the server could not find the requested resource/],
    ['GET /api/v2', 404, /the server could not find the requested resource/],
    ['POST /api', 405, /the server does not allow this method/],
    ['POST /apis/apps/v1', 405, /the server does not allow this method/],
    ['POST /apis/apps', 200, /"kind":"APIGroup"/],
  ])('%s responds with %i', async (line, status, text) => {
    const answer = await server.send(line)
    expect(answer.status).toBe(status)
    expect(answer.text).toMatch(text)
  })

  test('rejects an Accept header with the text of the router or of the serializer', async () => {
    const headers = { accept: 'text/html' }
    expect((await server.send('GET /api/v1', { headers })).body.message).toMatch(/^406: Not Acceptable\n/)
    expect((await server.send('GET /apis', { headers })).body.message).toMatch(/^only the following media types/)
  })

  test('serves the aggregated document and 304 for a known ETag', async () => {
    const answer = await server.send('GET /apis', yes)
    expect(answer.headers).toMatchObject({ 'content-type': v2, vary: 'Accept', 'cache-control': 'public' })
    expect(answer.body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' })
    const etag = String(answer.headers['etag'])
    const again = await server.send('GET /apis', { headers: { ...yes.headers, 'if-none-match': etag } })
    expect([again.status, again.text]).toEqual([304, ''])
  })

  test.each([
    [`${v2beta1},application/json`, 'APIGroupList'],
    [`application/json,${v2}`, 'APIGroupList'],
    [`${v2beta1},${v2},application/json`, 'APIGroupDiscoveryList'],
    [`application/json;q=0.5,${v2};q=0.9`, 'APIGroupDiscoveryList'],
  ])('responds to Accept: %s with %s', async (accept, kind) => {
    expect((await server.send('GET /apis', { headers: { accept } })).body.kind).toBe(kind)
  })

  test('follows changes of the resource table', async () => {
    const { resources } = server.server.parts
    const before = await server.send('GET /apis', yes)
    resources.set(customResource('v1beta1', { type: 'object' }))
    resources.set(customResource('v1', { type: 'object' }))
    const after = await server.send('GET /apis', yes)
    expect(after.headers['etag']).not.toBe(before.headers['etag'])
    const group = after.body.items.at(-1)
    expect(group.metadata.name).toBe('shop.example.com')
    expect(group.versions.map(({ version }: { version: string }) => version)).toEqual(['v1', 'v1beta1'])
    const responseKind = { group: 'shop.example.com', version: 'v1', kind: 'Widget' }
    expect(group.versions[0].resources[0]).toMatchObject({
      responseKind,
      shortNames: ['wd'],
      subresources: [{ subresource: 'status', responseKind }],
    })
    expect((await server.send('GET /apis/shop.example.com/v9')).text).toBe('404 page not found\n')
    resources.delete('shop.example.com', 'v1', 'widgets')
    // A resource that is served and not listed, as before its CRD is established.
    const beta = customResource('v1beta1', { type: 'object' })
    resources.set({ ...beta, serving: { ...beta.serving, unlisted: true } })
    expect((await server.send('GET /apis', yes)).headers['etag']).toBe(before.headers['etag'])
    expect((await server.send('GET /apis/shop.example.com/v1beta1')).status).toBe(404)
    expect((await server.send('GET /apis/shop.example.com/v1beta1/namespaces/a/widgets')).status).toBe(200)
    resources.delete('shop.example.com', 'v1beta1', 'widgets')
    expect((await server.send('GET /apis', yes)).headers['etag']).toBe(before.headers['etag'])
  })
})

describe('rootPaths()', () => {
  test('lists groups, versions, checks and documents in order', async () => {
    const { paths } = (await server.send('GET /')).body
    expect(paths).toEqual([...paths].sort())
    expect(paths).toEqual(
      expect.arrayContaining(['/api', '/apis', '/apis/apps/v1', '/livez/ping', '/openapi/v3', '/version']),
    )
  })
})

describe('versionPath()', () => {
  test('contains the Kubernetes version', async () => {
    expect((await server.send('GET /version')).body).toMatchObject({ major: '1', minor: '35', gitVersion: 'v1.35.8' })
  })
})
