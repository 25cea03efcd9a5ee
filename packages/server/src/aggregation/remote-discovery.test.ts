import { VirtualClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { type LocalRequest, type LocalResponse, LocalServers } from '../outgoing/local-servers.ts'
import { systemOutgoing } from '../outgoing/outgoing.ts'
import type { RemoteApiService } from './api-service-condition.ts'
import { ExtensionServers } from './extension-servers.ts'
import { fetchDiscovery, fetchOpenApiUrl } from './remote-discovery.ts'

const service: RemoteApiService = {
  apiVersion: 'apiregistration.k8s.io/v1',
  kind: 'APIService',
  metadata: { name: 'v1.far.example.com' },
  spec: { group: 'far.example.com', version: 'v1', service: { name: 's', namespace: 'n' } },
}

/** Connects to a server with these responses by path. */
function servers(answers: Record<string, LocalResponse>): ExtensionServers {
  const local = new LocalServers()
  local.serve('far:443', ({ path }: LocalRequest) => answers[path] ?? { status: 404, body: new Uint8Array() })
  const resolveService = async () => ({ host: 'far', port: 443 })
  return new ExtensionServers({ outgoing: local.before(systemOutgoing), resolveService, clock: new VirtualClock() })
}

function json(value: unknown, type = 'application/json'): LocalResponse {
  return { status: 200, headers: { 'content-type': [type] }, body: Buffer.from(JSON.stringify(value)) }
}

describe('fetchDiscovery()', () => {
  const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList'

  test('reads the version from the aggregated document and fills unknown kinds with empty fields', async () => {
    const resources = [
      { resource: 'things', scope: 'Cluster', verbs: ['get'], subresources: [{ subresource: 'status' }] },
    ]
    const items = [
      { metadata: { name: 'other.example.com' }, versions: [{ version: 'v1', resources: [] }] },
      { metadata: { name: 'far.example.com' }, versions: [{ version: 'v1', resources }] },
    ]
    const none = { group: '', version: '', kind: '' }
    expect(await fetchDiscovery(service, servers({ '/apis': json({ items }, aggregated) }))).toEqual([
      { ...resources[0], responseKind: none, subresources: [{ subresource: 'status', responseKind: none }] },
    ])
  })

  test('falls back to legacy discovery', async () => {
    const resources = [
      {
        name: 'things',
        singularName: 'thing',
        namespaced: true,
        kind: 'Thing',
        verbs: ['get', 'list'],
        shortNames: ['th'],
      },
      { name: 'things/scale', namespaced: true, group: 'autoscaling', version: 'v1', kind: 'Scale', verbs: ['get'] },
      { name: 'thingsets', namespaced: false, kind: 'ThingSet', verbs: [] },
    ]
    const found = servers({ '/apis': json({ kind: 'APIGroupList' }), '/apis/far.example.com/v1': json({ resources }) })
    expect(await fetchDiscovery(service, found)).toEqual([
      {
        resource: 'things',
        responseKind: { group: 'far.example.com', version: 'v1', kind: 'Thing' },
        scope: 'Namespaced',
        singularResource: 'thing',
        verbs: ['get', 'list'],
        shortNames: ['th'],
        subresources: [
          {
            subresource: 'scale',
            responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
            verbs: ['get'],
          },
        ],
      },
      {
        resource: 'thingsets',
        responseKind: { group: 'far.example.com', version: 'v1', kind: 'ThingSet' },
        scope: 'Cluster',
        singularResource: '',
        verbs: [],
      },
    ])
  })

  test('rejects when the server has neither format', async () => {
    await expect(fetchDiscovery(service, servers({}))).rejects.toThrow(
      'failed to download legacy discovery for /apis/far.example.com/v1: 404',
    )
  })
})

describe('fetchOpenApiUrl()', () => {
  test.each([
    ['/openapi/v3/apis/far.example.com/v1?hash=1', '/openapi/v3/apis/far.example.com/v1?hash=1'],
    ['https://evil.example.com/', undefined],
    ['/openapi/v3/api/v1?hash=1', undefined],
  ])('accepts only paths of the group version itself: %s', async (serverRelativeURL, expected) => {
    const paths = { 'apis/far.example.com/v1': { serverRelativeURL } }
    expect(await fetchOpenApiUrl(service, servers({ '/openapi/v3': json({ paths }) }))).toBe(expected)
  })

  test('returns undefined when there is no document', async () => {
    expect(await fetchOpenApiUrl(service, servers({}))).toBeUndefined()
    expect(await fetchOpenApiUrl(service, servers({ '/openapi/v3': json({ paths: {} }) }))).toBeUndefined()
  })
})
