// The same tests run over both transports.
import {
  type ApiRequest,
  compareResourceVersions,
  crdOf,
  defineResource,
  isAlreadyExists,
  isConflict,
  isInvalid,
  isNotFound,
  isResourceExpired,
  Selector,
} from '@kubewright/api'
import { ConfigMap, Deployment, Namespace, Pod } from '@kubewright/k8s'
import { s } from '@kubewright/schema'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ApiClient } from './api-client.ts'
import { allNamespaces, type ListOptions } from './call-options.ts'
import { createClient } from './create-client.ts'
import { dynamicKind, metadataOnly } from './dynamic-kind.ts'
import { retryOnConflict } from './retry-on-conflict.ts'
import { startTestCluster, type TestCluster, type Way } from './testdata/cluster.ts'
import { inProcessTransport } from './transport/in-process-transport.ts'
import type { WatchEvent } from './watch/watch-stream.ts'

const Garden = defineResource({
  group: 'client.example.com',
  version: 'v1',
  kind: 'Garden',
  spec: s.object({ beds: s.int().default(1) }),
  status: s.object({ weeds: s.int().optional() }),
})

describe.each<Way>(['in-process', 'TLS'])('createClient() %s', (way) => {
  let cluster: TestCluster
  let client: ApiClient
  let warnings: string[]

  beforeAll(async () => {
    cluster = await startTestCluster(way)
    warnings = []
    client = cluster.client({ kinds: [ConfigMap], onWarning: (text) => warnings.push(text) })
  })
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]()
  })

  const config = (name: string, data: Record<string, string> = {}, labels: Record<string, string> = {}) =>
    ConfigMap({ metadata: { name, labels }, data })

  test('creates, reads, updates and deletes objects', async () => {
    const created = await client.create(config('crud', { color: 'blue' }))
    expect(created).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'default' } })
    const read = await client.get(ConfigMap, 'crud')
    expect(read).toEqual(created)
    const updated = await client.update({ ...read, data: { color: 'green' } })
    expect(updated.data).toEqual({ color: 'green' })
    await expect(client.update({ ...read, data: {} })).rejects.toSatisfy(isConflict)
    await client.delete(ConfigMap, { name: 'crud', namespace: 'default' })
    await expect(client.get(ConfigMap, 'default/crud')).rejects.toSatisfy(isNotFound)
    expect(await client.find(ConfigMap, 'crud')).toBeUndefined()
  })

  test('rejects with the Status of the server', async () => {
    await expect(client.create(config('UPPER'))).rejects.toSatisfy(isInvalid)
    await client.create(config('twice'))
    await expect(client.create(config('twice'))).rejects.toSatisfy(isAlreadyExists)
    await expect(client.create(config('twice'))).rejects.toThrow('configmaps "twice" already exists')
    await expect(client.get(ConfigMap, '')).rejects.toThrow('resource name may not be empty')
    await expect(client.get(ConfigMap, { name: '..' })).rejects.toThrow(
      'invalid resource name "..": [may not be \'..\']',
    )
  })

  test('discovers the resource of drafts of unknown kinds', async () => {
    const created = await client.create(Namespace({ metadata: { name: 'found' } }))
    expect(created.metadata.uid).not.toBe('')
    const plain = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'x' } }
    await expect(client.create(plain)).rejects.toSatisfy(isInvalid)
    await expect(client.create({ apiVersion: 'none.example.com/v1', kind: 'None' })).rejects.toThrow(
      'no matches for kind "None" in version "none.example.com/v1"',
    )
  })

  test('lists by labels, selectors and fields, sorted', async () => {
    for (const namespace of ['a', 'a-b']) await client.create(Namespace({ metadata: { name: namespace } }))
    for (const [name, namespace] of [
      ['two', 'a-b'],
      ['one', 'a'],
      ['three', 'a'],
    ] as const) {
      const labels = { suite: 'list', name }
      await client.create(ConfigMap({ metadata: { name, namespace, labels } }))
    }
    const names = async (options: object): Promise<string[]> =>
      (await client.list(ConfigMap, { namespace: allNamespaces, labels: { suite: 'list' }, ...options })).map(
        ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
      )
    expect(await names({})).toEqual(['a/one', 'a/three', 'a-b/two'])
    expect(await names({ namespace: 'a' })).toEqual(['a/one', 'a/three'])
    expect(await names({ selector: 'name in (one, two)' })).toEqual(['a/one', 'a-b/two'])
    expect(
      await names({ selector: { matchExpressions: [{ key: 'name', operator: 'NotIn', values: ['one'] }] } }),
    ).toEqual(['a/three', 'a-b/two'])
    expect(await names({ fields: { 'metadata.name': 'three' } })).toEqual(['a/three'])
    const [first] = await client.list(ConfigMap, { namespace: 'a' })
    expect(first).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' })
  })

  test('lists in pages', async () => {
    for (let index = 0; index < 5; index++) await client.create(config(`page-${index}`, {}, { suite: 'pages' }))
    const seen: string[][] = []
    const versions = new Set<string>()
    for await (const page of client.pages(ConfigMap, { labels: { suite: 'pages' }, pageSize: 2 })) {
      seen.push(page.items.map(({ metadata }) => metadata.name))
      versions.add(page.resourceVersion)
    }
    expect(seen).toEqual([['page-0', 'page-1'], ['page-2', 'page-3'], ['page-4']])
    expect(versions.size).toBe(1)
    await client.deleteCollection(ConfigMap, { labels: { suite: 'pages' } })
    expect(await client.list(ConfigMap, { labels: { suite: 'pages' } })).toEqual([])
  })

  test('continues a list after a page and selects by fieldSelector syntax', async () => {
    for (let index = 0; index < 4; index++) await client.create(config(`more-${index}`, {}, { suite: 'more' }))
    const options = { labels: { suite: 'more' }, pageSize: 3 }
    let token: string | undefined
    for await (const page of client.pages(ConfigMap, options)) {
      token = page.continue
      break
    }
    const rest: string[] = []
    for await (const page of client.pages(ConfigMap, { ...options, continue: token })) {
      rest.push(...page.items.map(({ metadata }) => metadata.name))
      expect(page.continue).toBeUndefined()
    }
    expect(rest).toEqual(['more-3'])
    const others = await client.list(ConfigMap, { labels: { suite: 'more' }, fieldSelector: 'metadata.name!=more-1' })
    expect(others.map(({ metadata }) => metadata.name)).toEqual(['more-0', 'more-2', 'more-3'])
  })

  test('rejects a selector that selects nothing, which a server would treat as everything', async () => {
    await expect(client.list(ConfigMap, { selector: Selector.nothing })).rejects.toThrow('selects nothing')
    await expect(client.deleteCollection(ConfigMap, { selector: Selector.nothing })).rejects.toThrow('selects nothing')
  })

  test('lists by spec fields that no server selects by', async () => {
    const labels = { suite: 'where' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'one', image: 'a' }] } }
    for (const replicas of [1, 2, 3]) {
      const spec = { replicas, selector: { matchLabels: labels }, template, ...(replicas > 1 ? { paused: true } : {}) }
      await client.create(Deployment({ metadata: { name: `where-${replicas}`, labels }, spec }))
    }
    const names = async (where: NonNullable<ListOptions<Deployment>['where']>): Promise<string[]> =>
      (await client.list(Deployment, { labels, where })).map(({ metadata }) => metadata.name)
    expect(await names({ 'spec.replicas': 2 })).toEqual(['where-2'])
    expect(await names({ 'spec.replicas': '2' })).toEqual([])
    expect(await names({ 'spec.paused': undefined })).toEqual(['where-1'])
    expect(await names({ 'spec.paused': true, 'spec.replicas': 3 })).toEqual(['where-3'])
    await expect(client.deleteCollection(Deployment, { labels, where: { 'spec.replicas': 2 } })).rejects.toThrow(
      '"spec.replicas" is not a known field selector',
    )
  })

  test('returns the object or uid of a deletion', async () => {
    const created = await client.create(config('deletion'))
    expect(await client.requestDeletion(ConfigMap, 'deletion')).toEqual({ uid: created.metadata.uid })
    const { metadata } = await client.create(config('deletion', {}, { suite: 'deletion' }))
    const gone = await client.requestCollectionDeletion(ConfigMap, { labels: { suite: 'deletion' } })
    expect(gone).toMatchObject({ objects: [{ metadata: { name: 'deletion' } }] })
    expect(compareResourceVersions(gone!.resourceVersion, metadata.resourceVersion)).toBeGreaterThanOrEqual(0)
  })

  test('warns when a plain write ignored the status', async () => {
    const own: string[] = []
    const other = cluster.client({ kinds: [Deployment], onWarning: (text) => own.push(text) })
    const labels = { suite: 'ignored' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'one', image: 'a' }] } }
    const created = await other.create(
      Deployment({ metadata: { name: 'ignored' }, spec: { selector: { matchLabels: labels }, template } }),
    )
    await other.update(created)
    expect(own).toEqual([])
    await other.update({ ...created, status: { replicas: 3 } })
    expect(own).toEqual([
      "the status of Deployment.apps was ignored by this write: use subresource(Deployment, 'status') to write it",
    ])
  })

  test('patches with the three patch types', async () => {
    await client.create(config('patched', { a: '1', b: '2' }))
    const merged = await client.patch(ConfigMap, 'patched', { data: { a: null, c: '3' } })
    expect(merged.data).toEqual({ b: '2', c: '3' })
    const changed = await client.patch(ConfigMap, 'patched', [{ op: 'replace', path: '/data/b', value: 'two' }])
    expect(changed.data).toEqual({ b: 'two', c: '3' })
    await client.create(
      Deployment({
        metadata: { name: 'patched' },
        spec: {
          selector: { matchLabels: { app: 'x' } },
          template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'one', image: 'a' }] } },
        },
      }),
    )
    const containers = [{ name: 'two', image: 'b' }]
    const added = await client.patch(
      Deployment,
      'patched',
      { spec: { template: { spec: { containers } } } },
      { type: 'strategic' },
    )
    expect(added.spec.template.spec?.containers.map(({ name }) => name)).toEqual(['two', 'one'])
  })

  test('applies drafts and partial drafts, and takes over fields only with force', async () => {
    const first = await client.apply(config('applied', { a: '1', b: '2' }))
    expect(first.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['kubewright'])
    const second = await client.apply(ConfigMap, { metadata: { name: 'applied' }, data: { a: '1' } })
    expect(second.data).toEqual({ a: '1' })
    const other = { fieldManager: 'other' }
    await expect(client.apply(config('applied', { a: '2' }), other)).rejects.toSatisfy(isConflict)
    const forced = await client.apply(config('applied', { a: '2' }), { ...other, force: true })
    expect(forced.data).toEqual({ a: '2' })
  })

  test('supports dry runs and field validation', async () => {
    await client.create(config('dry'), { dryRun: true })
    expect(await client.find(ConfigMap, 'dry')).toBeUndefined()
    const dry = cluster.client({ dryRun: true, kinds: [ConfigMap] })
    await client.create(config('wet'))
    await dry.delete(ConfigMap, 'wet')
    expect(await client.find(ConfigMap, 'wet')).toBeDefined()
    const typo = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'typo' }, dta: {} }
    await expect(client.create(typo, { fieldValidation: 'Strict' })).rejects.toThrow('unknown field "dta"')
    await client.create(typo)
    await client.update(typo)
    expect(warnings).toEqual(['unknown field "dta"'])
  })

  test('reads and writes subresources', async () => {
    await client.create(
      Deployment({
        metadata: { name: 'scaled' },
        spec: {
          selector: { matchLabels: { app: 'x' } },
          template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'one', image: 'a' }] } },
        },
      }),
    )
    const scale = client.subresource(Deployment, 'scale')
    expect((await scale.get('scaled')).spec.replicas).toBe(1)
    const patched = await scale.patch('scaled', { spec: { replicas: 3 } })
    expect(patched.spec.replicas).toBe(3)
    const replaced = await scale.update({ ...patched, spec: { replicas: 2 } })
    expect(replaced.spec.replicas).toBe(2)
    const deployment = await client.get(Deployment, 'scaled')
    const status = client.subresource(Deployment, 'status')
    const updated = await status.update({ ...deployment, status: { observedGeneration: 7 } })
    expect(updated.status?.observedGeneration).toBe(7)
    const applied = await status.apply('scaled', { status: { collisionCount: 1 } })
    expect(applied.status?.collisionCount).toBe(1)
  })

  test('watches events, bookmarks and the end of initial events', async () => {
    const labels = { suite: 'watch' }
    await client.create(config('before', {}, labels))
    const stream = await client.watch(ConfigMap, { labels, sendInitialEvents: true })
    const seen: string[] = []
    for await (const event of stream) {
      seen.push(
        event.type === 'BOOKMARK'
          ? `BOOKMARK ${event.initialEventsEnd}`
          : `${event.type} ${event.object.metadata.name}`,
      )
      if (event.type === 'BOOKMARK') {
        await client.create(config('during', {}, labels))
        await client.patch(ConfigMap, 'during', { data: { a: 'ü' } })
        await client.delete(ConfigMap, 'during')
      }
      if (event.type === 'DELETED') break
    }
    expect(seen).toEqual(['ADDED before', 'BOOKMARK true', 'ADDED during', 'MODIFIED during', 'DELETED during'])
  })

  test('ends a watch with the reason of its signal', async () => {
    const controller = new AbortController()
    const stream = await client.watch(ConfigMap, { signal: controller.signal })
    await expect(
      (async () => {
        for await (const _ of stream) controller.abort(new Error('enough'))
      })(),
    ).rejects.toThrow('enough')
  })

  test('ends a watch without an error when the server ends it', async () => {
    const events: WatchEvent<unknown>[] = []
    const selected = { fields: { 'metadata.name': 'none' } }
    for await (const { resourceVersion } of client.pages(Namespace, selected)) {
      const options = { ...selected, resourceVersion, timeoutSeconds: 1, bookmarks: false }
      for await (const event of await client.watch(Namespace, options)) events.push(event)
    }
    expect(events).toEqual([])
  })

  test('throws the error event of a watch', async () => {
    const watching = (async () => {
      for await (const _ of await client.watch(Namespace, { resourceVersion: '1' }));
    })()
    await expect(watching).rejects.toSatisfy(isResourceExpired)
  })

  test('reads only metadata', async () => {
    await client.create(config('meta', { big: 'x'.repeat(1000) }))
    const Meta = metadataOnly(ConfigMap)
    const read = await client.get(Meta, 'meta')
    expect(Object.keys(read)).toEqual(['apiVersion', 'kind', 'metadata'])
    expect(read).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'meta' } })
    const [item] = await client.list(Meta, { fields: { 'metadata.name': 'meta' } })
    expect(item).toEqual(read)
    const stream = await client.watch(Meta, { fields: { 'metadata.name': 'meta' } })
    for await (const event of stream) {
      expect(event).toEqual({ type: 'ADDED', object: read })
      break
    }
    const patched = await client.patch(Meta, 'meta', '{"metadata":{"labels":{"a":"b"}}}')
    expect(patched.metadata.labels).toEqual({ a: 'b' })
  })

  test('supports dynamic kinds and discovers new ones', async () => {
    await expect(client.kind({ group: 'client.example.com', version: 'v1', kind: 'Garden' })).rejects.toThrow(
      'no matches for kind "Garden" in version "client.example.com/v1"',
    )
    const missing = client.find(Garden, 'any')
    await expect(missing).rejects.toThrow(
      'the server could not find the requested resource (get gardens.client.example.com any)',
    )
    await client.create(crdOf(Garden) as { apiVersion: string; kind: string })
    const definitions = dynamicKind({
      group: 'apiextensions.k8s.io',
      version: 'v1',
      kind: 'CustomResourceDefinition',
      plural: 'customresourcedefinitions',
      scope: 'Cluster',
    })
    for await (const event of await client.watch(definitions, { sendInitialEvents: true })) {
      if (event.type === 'BOOKMARK') continue
      const { conditions = [] } = event.object['status'] as { conditions?: { type: string; status: string }[] }
      if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) break
    }
    await client.create(Garden({ metadata: { name: 'back' }, spec: {} }))
    const Dynamic = await client.kind({ group: 'client.example.com', version: 'v1', kind: 'Garden' })
    expect({ ...Dynamic }).toMatchObject({ plural: 'gardens', scope: 'Namespaced', subresources: ['status'] })
    expect((await client.get(Dynamic, 'back'))['spec']).toEqual({ beds: 1 })
    const byResource = await client.resource({ group: 'client.example.com', version: 'v1', resource: 'gardens' })
    expect(byResource.kind).toBe('Garden')
    const status = await client.subresource(Garden, 'status').patch('back', { status: { weeds: 3 } })
    expect(status.status).toEqual({ weeds: 3 })
  })

  test('drops kinds that are no longer served', async () => {
    const gvk = { group: 'client.example.com', version: 'v1', kind: 'Garden' }
    const Dynamic = await client.kind(gvk)
    const definitions = await client.kind({
      group: 'apiextensions.k8s.io',
      version: 'v1',
      kind: 'CustomResourceDefinition',
    })
    const stream = await client.watch(definitions, { fields: { 'metadata.name': 'gardens.client.example.com' } })
    await client.delete(definitions, 'gardens.client.example.com')
    for await (const event of stream) if (event.type === 'DELETED') break
    await expect(client.get(Dynamic, 'back')).rejects.toSatisfy(isNotFound)
    await expect(client.kind(gvk)).rejects.toThrow('no matches for kind')
  })

  test('resolves short names, groups, versions and categories', async () => {
    const { mapper } = client
    for (const word of [
      'deploy',
      'deployment',
      'deployments',
      'Deployment',
      'deployments.apps',
      'deployments.v1.apps',
    ]) {
      expect(await mapper.match(word)).toMatchObject({ group: 'apps', version: 'v1', kind: 'Deployment' })
    }
    expect(await mapper.match('po')).toMatchObject({ group: '', kind: 'Pod' })
    await expect(mapper.match('nothing')).rejects.toThrow('the server doesn\'t have a resource type "nothing"')
    const all = (await mapper.category('all')).map(({ plural }) => plural)
    expect(all).toEqual(expect.arrayContaining(['pods', 'services', 'deployments', 'jobs']))
    expect(all).not.toContain('configmaps')
  })

  test('retryOnConflict() retries the read and the write', async () => {
    await client.create(config('contended', { n: '0' }))
    const increment = (): Promise<unknown> =>
      retryOnConflict(async () => {
        const read = await client.get(ConfigMap, 'contended')
        return client.update({ ...read, data: { n: String(Number(read.data?.['n']) + 1) } })
      })
    await Promise.all([increment(), increment(), increment()])
    expect((await client.get(ConfigMap, 'contended')).data).toEqual({ n: '3' })
  })

  test('logs() rejects with the Status of the server for a missing pod', async () => {
    const reading = (async () => {
      for await (const _ of client.logs('none'));
    })()
    await expect(reading).rejects.toThrow('pods "none" not found')
  })
})

describe('createClient() on a stub', () => {
  const answer = (body: string, seen: ApiRequest[] = []) =>
    createClient({
      namespace: 'mine',
      transport: inProcessTransport({
        handler: async (request) => {
          seen.push(request)
          return { status: 200, headers: {}, body: Buffer.from(body) }
        },
      }),
    })

  test('logs() yields the lines of the requested log', async () => {
    const seen: ApiRequest[] = []
    const lines: string[] = []
    const client = answer('one\ntwo\n', seen)
    for await (const line of client.logs('web', { container: 'c', follow: true, tailLines: 2, previous: false })) {
      lines.push(line)
    }
    expect(lines).toEqual(['one', 'two'])
    expect(seen[0]?.path).toBe('/api/v1/namespaces/mine/pods/web/log')
    expect(seen[0]?.query.toString()).toBe('container=c&follow=true&tailLines=2')
  })

  test('list() selects by spec fields, including absence and special characters', async () => {
    const seen: ApiRequest[] = []
    const where = { 'spec.nodeName': undefined, 'spec.serviceAccountName': 'a,b=c', 'spec.hostNetwork': true }
    expect(await answer('{"items":[]}', seen).list(Pod, { where })).toEqual([])
    expect(seen[0]?.query.get('fieldSelector')).toBe(
      'spec.nodeName=,spec.serviceAccountName=a\\,b\\=c,spec.hostNetwork=true',
    )
  })

  test('reports a response that is not JSON', async () => {
    await expect(answer('<html>').get(Pod, 'web')).rejects.toThrow(
      'in-process: the response to GET /api/v1/namespaces/mine/pods/web is not JSON',
    )
  })
})
