import { seededRandom, VirtualClock } from '@kubewright/base'
import { dynamicKind, type Transport } from '@kubewright/client'
import { CustomResourceDefinition, LimitRange, Pod, StatefulSet } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { startControlPlane } from '../host/start-control-plane.ts'

const labels = { app: 'db' }

const database = () =>
  StatefulSet({
    metadata: { name: 'db' },
    spec: {
      selector: { matchLabels: labels },
      serviceName: 'db',
      template: { metadata: { labels }, spec: { containers: [{ name: 'db', image: 'db:1' }] } },
    },
  })

const widgets = () =>
  CustomResourceDefinition({
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      names: { kind: 'Widget', plural: 'widgets' },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  })

const Widget = dynamicKind({ group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets' })

/** A control plane that records the resources which its controllers watch. */
async function start() {
  const watched = new Set<string>()
  const intercept = (transport: Transport): Transport => ({
    host: transport.host,
    send: (request) => {
      const { pathname, searchParams } = new URL(request.path, 'http://server')
      if (searchParams.has('watch')) watched.add(pathname)
      return transport.send(request)
    },
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  })
  const clock = new VirtualClock()
  const plane = await startControlPlane({ clock, random: seededRandom(1), intercept })
  return { plane, clock, watched }
}

test('startControlPlane() watches the resources that have objects, and others with their first object', async () => {
  const { plane, clock, watched } = await start()
  await clock.advance('1m')
  expect(watched).toContain('/api/v1/namespaces')
  for (const path of ['/apis/apps/v1/statefulsets', '/apis/apps/v1/deployments', '/apis/batch/v1/jobs', '/api/v1/pods'])
    expect(watched).not.toContain(path)
  const client = plane.client()
  await client.create(database())
  await clock.advance('10s')
  expect(watched).toContain('/apis/apps/v1/statefulsets')
  expect((await client.get(Pod, 'db-0')).status?.phase).toBe('Running')
  expect(watched).not.toContain('/apis/apps/v1/deployments')
  await plane[Symbol.asyncDispose]()
})

test('startControlPlane() creates no store for a resource that only the garbage collector watches before its first object', async () => {
  const { plane, clock } = await start()
  const stores = (): string[] => [...plane.controllers.manager!.cluster.cache.health.keys()]
  await clock.advance('1m')
  expect(stores().some((name) => name.startsWith('limitranges '))).toBe(false)
  await plane.client().create(LimitRange({ metadata: { name: 'limits' }, spec: { limits: [{ type: 'Pod' }] } }))
  await clock.advance('1s')
  expect(stores().some((name) => name.startsWith('limitranges '))).toBe(true)
  await plane[Symbol.asyncDispose]()
})

test('startControlPlane() collects custom resources of a definition that was deleted and created again', async () => {
  const { plane, clock, watched } = await start()
  const client = plane.client()
  for (const round of ['first', 'second']) {
    await client.create(widgets())
    await clock.advance('1s')
    const owner = await client.create(Widget({ metadata: { name: `owner-${round}` } }))
    const { apiVersion, kind } = owner
    const { name, uid } = owner.metadata
    await client.create(
      Widget({ metadata: { name: `owned-${round}`, ownerReferences: [{ apiVersion, kind, name, uid }] } }),
    )
    await clock.advance('1s')
    expect(watched).toContain('/apis/example.com/v1/widgets')
    await client.delete(Widget, name)
    await clock.advance('10s')
    expect(await client.list(Widget)).toEqual([])
    await client.delete(CustomResourceDefinition, 'widgets.example.com')
    await clock.advance('1s')
    watched.clear()
  }
  await plane[Symbol.asyncDispose]()
})
