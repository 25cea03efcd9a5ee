import type { KubeObject } from '@kubewright/api'
import { dynamicKind, metadataOnly } from '@kubewright/client'
import { ConfigMap, Namespace } from '@kubewright/k8s'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EmbeddedServer, startEmbeddedServer } from '../../cluster/testdata/embedded-server.ts'
import type { WatchEvent } from '../reflector/list-watch.ts'
import { type Item, isEncoded, keyOfItem } from '../store/item.ts'
import { clientListWatch } from './client-list-watch.ts'

let server: EmbeddedServer
beforeAll(async () => {
  server = await startEmbeddedServer()
  const api = server.api()
  await api.create(Namespace({ metadata: { name: 'other' } }))
  for (const [namespace, name] of [
    ['default', 'a'],
    ['default', 'b'],
    ['other', 'c'],
  ] as const) {
    await api.create(ConfigMap({ metadata: { namespace, name, labels: { name, suite: 'yes' } }, data: { name } }))
  }
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

const labelSelector = 'suite=yes'

function decoded(event: WatchEvent<Item<KubeObject>>): WatchEvent<KubeObject> {
  if (event.type === 'BOOKMARK') return event
  return { type: event.type, object: isEncoded(event.object) ? event.object.decode() : event.object }
}

describe('clientListWatch()', () => {
  test('list() returns one page at a time, of the whole cluster or of one namespace', async () => {
    const source = clientListWatch(server.api(), ConfigMap, { labelSelector })
    const first = await source.list({ resourceVersion: '', limit: 2 })
    expect(first.items.map(keyOfItem)).toEqual(['default/a', 'default/b'])
    const token = first.continue ?? ''
    const second = await source.list({ resourceVersion: '', limit: 2, continue: token })
    expect([second.items.map(keyOfItem), second.continue, second.resourceVersion]).toEqual([
      ['other/c'],
      undefined,
      first.resourceVersion,
    ])
    const narrow = clientListWatch(server.api(), ConfigMap, {
      namespace: 'default',
      labelSelector,
      fieldSelector: 'metadata.name!=a',
    })
    expect((await narrow.list({ resourceVersion: '0' })).items.map(keyOfItem)).toEqual(['default/b'])
  })

  test.each([
    ['typed', ConfigMap],
    ['dynamic', dynamicKind({ group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps' })],
    ['metadata-only', metadataOnly(ConfigMap)],
  ])('watch() streams the initial state of a %s kind, its end and later changes', async (form, kind) => {
    const api = server.api()
    const end = new AbortController()
    const scope = { namespace: 'other', labelSelector }
    const stream = await clientListWatch(api, kind, scope).watch({
      resourceVersion: '',
      timeoutSeconds: 60,
      sendInitialEvents: true,
      signal: end.signal,
    })
    const events: WatchEvent<KubeObject>[] = []
    const reading = (async () => {
      for await (const batch of stream) {
        for (const event of batch) {
          events.push(decoded(event))
          if (event.type === 'BOOKMARK') await api.patch(ConfigMap, 'other/c', { metadata: { annotations: { form } } })
          if (event.type === 'MODIFIED') return
        }
      }
    })()
    await reading
    end.abort()
    expect(events.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK', 'MODIFIED'])
    const [added, bookmark, modified] = events
    expect(added).toMatchObject({ object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' } } })
    expect(bookmark).toMatchObject({ initialEventsEnd: true })
    expect(modified).toMatchObject({ object: { metadata: { annotations: { form } } } })
    expect('object' in added! && 'data' in added.object).toBe(form !== 'metadata-only')
  })
})
