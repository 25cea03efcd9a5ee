import { describe, expect, test } from 'vitest'
import { RestClient } from '../rest/rest-client.ts'
import { inProcessTransport } from '../transport/in-process-transport.ts'
import { Discovery } from './discovery.ts'
import { RestMapper } from './rest-mapper.ts'

/** A server with these documents that counts requests. */
function serve(documents: Record<string, unknown>) {
  const asked: string[] = []
  const transport = inProcessTransport({
    handler: async ({ path }) => {
      asked.push(path)
      const document = documents[path]
      if (document === undefined) return { status: 404, headers: {}, body: Buffer.from('404 page not found') }
      if (typeof document === 'number') return { status: document, headers: {} }
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(JSON.stringify(document)),
      }
    },
  })
  const discovery = new Discovery(new RestClient({ transport }))
  return { asked, documents, discovery, mapper: new RestMapper(discovery) }
}

const resource = (name: string, kind: string, more: object = {}): object => ({
  name,
  kind,
  singularName: kind.toLowerCase(),
  namespaced: true,
  verbs: ['get'],
  ...more,
})

const legacy = (): Record<string, unknown> => ({
  '/api': { kind: 'APIVersions', versions: ['v1'] },
  '/api/v1': {
    kind: 'APIResourceList',
    resources: [resource('pods', 'Pod', { shortNames: ['po'], categories: ['all'] }), resource('pods/log', 'Pod')],
  },
  '/apis': {
    kind: 'APIGroupList',
    groups: [
      { name: 'a.io', versions: [{ version: 'v1beta1' }, { version: 'v1' }], preferredVersion: { version: 'v1' } },
      { name: 'down.io', versions: [{ version: 'v1' }], preferredVersion: { version: 'v1' } },
    ],
  },
  '/apis/a.io/v1': { kind: 'APIResourceList', resources: [resource('pods', 'Pod'), resource('as', 'A')] },
  '/apis/a.io/v1beta1': { kind: 'APIResourceList', resources: [resource('as', 'A')] },
  '/apis/down.io/v1': 503,
})

describe('Discovery', () => {
  test('reads version by version without aggregated discovery, and tolerates unavailable versions', async () => {
    const { discovery } = serve(legacy())
    const groups = await discovery.groups()
    expect(groups.map(({ name, versions }) => [name, versions.map(({ version, stale }) => [version, stale])])).toEqual([
      ['', [['v1', false]]],
      [
        'a.io',
        [
          ['v1', false],
          ['v1beta1', false],
        ],
      ],
      ['down.io', [['v1', true]]],
    ])
    expect(groups[0]?.versions[0]?.resources).toEqual([
      {
        group: '',
        version: 'v1',
        kind: 'Pod',
        plural: 'pods',
        singular: 'pod',
        scope: 'Namespaced',
        verbs: ['get'],
        shortNames: ['po'],
        categories: ['all'],
        subresources: ['log'],
      },
    ])
  })

  test('uses aggregated discovery where available', async () => {
    const aggregated = {
      kind: 'APIGroupDiscoveryList',
      items: [
        {
          metadata: { name: 'a.io' },
          versions: [
            {
              version: 'v1',
              freshness: 'Stale',
              resources: [
                {
                  resource: 'as',
                  responseKind: { kind: 'A' },
                  scope: 'Cluster',
                  subresources: [{ subresource: 'status' }],
                },
                { resource: 'only-subresources', subresources: [] },
              ],
            },
          ],
        },
      ],
    }
    const { discovery, asked } = serve({ '/apis': aggregated })
    const [group] = await discovery.groups()
    expect(asked.toSorted()).toEqual(['/api', '/apis'])
    expect(group?.versions[0]).toMatchObject({
      stale: true,
      resources: [
        {
          group: 'a.io',
          version: 'v1',
          kind: 'A',
          plural: 'as',
          singular: 'a',
          scope: 'Cluster',
          subresources: ['status'],
        },
      ],
    })
  })
})

describe('RestMapper', () => {
  const kind = (group: string, version: string, name: string) => ({ group, version, kind: name })

  test('shares one request between concurrent callers and caches the result', async () => {
    const { mapper, asked } = serve(legacy())
    await Promise.all([mapper.forKind(kind('', 'v1', 'Pod')), mapper.forKind(kind('a.io', 'v1', 'A'))])
    const before = asked.length
    expect(await mapper.forResource({ group: 'a.io', version: 'v1beta1', resource: 'as' })).toMatchObject({ kind: 'A' })
    expect(asked).toHaveLength(before)
  })

  test('reads one version for an unknown kind and caches it', async () => {
    const { mapper, asked, documents } = serve(legacy())
    const wanted = kind('new.io', 'v1', 'New')
    await expect(mapper.forKind(wanted)).rejects.toThrow('no matches for kind "New" in version "new.io/v1"')
    documents['/apis/new.io/v1'] = { kind: 'APIResourceList', resources: [resource('news', 'New')] }
    asked.length = 0
    expect(await mapper.forKind(wanted)).toMatchObject({ plural: 'news' })
    expect(await mapper.forKind(wanted)).toMatchObject({ plural: 'news' })
    expect(asked).toEqual(['/apis/new.io/v1'])
  })

  test('reads a stale version again', async () => {
    const { mapper, documents } = serve(legacy())
    const wanted = kind('down.io', 'v1', 'Down')
    await expect(mapper.forKind(wanted)).rejects.toMatchObject({ statusCode: 503 })
    documents['/apis/down.io/v1'] = { kind: 'APIResourceList', resources: [resource('downs', 'Down')] }
    expect(await mapper.forKind(wanted)).toMatchObject({ plural: 'downs' })
  })

  test('forget() drops a version, which is then read again', async () => {
    const { mapper, documents } = serve(legacy())
    const wanted = kind('a.io', 'v1', 'A')
    await mapper.forKind(wanted)
    delete documents['/apis/a.io/v1']
    mapper.forget(wanted)
    await expect(mapper.forKind(wanted)).rejects.toMatchObject({ code: 'KW_NO_MATCH' })
  })

  test('match() prefers the first group unless the word names another', async () => {
    const { mapper } = serve(legacy())
    expect(await mapper.match('po')).toMatchObject({ group: '' })
    expect(await mapper.match('pods')).toMatchObject({ group: '' })
    expect(await mapper.match('pod.a.io')).toMatchObject({ group: 'a.io', version: 'v1' })
    expect(await mapper.match('pods.a')).toMatchObject({ group: 'a.io' })
    expect(await mapper.match('as.v1beta1.a.io')).toMatchObject({ version: 'v1beta1' })
    expect(await mapper.category('all')).toMatchObject([{ plural: 'pods' }])
  })
})
