import { MemoryStore } from '@kubewright/storage'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CrdServer, conditionOf, crds, definition, group, version, widget } from '../testdata/crd-server.ts'

let server: CrdServer
beforeAll(async () => {
  server = await CrdServer.start()
})
afterAll(() => server[Symbol.asyncDispose]())

const one = `${crds}/widgets.${group}`
const widgets = `/apis/${group}/v1/namespaces/a/widgets`
const merge = { 'content-type': 'application/merge-patch+json' }
const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

async function remove(): Promise<void> {
  await server.send(`DELETE ${one}`)
  await server.until(`GET ${one}`, ({ status }) => status === 404)
}

beforeEach(remove)

describe('CrdRegistrar', () => {
  test('responds to a create before it syncs the CRD', async () => {
    const { status, body } = await server.send(`POST ${crds}`, { body: definition(anything) })
    expect(status).toBe(201)
    expect(body.status).toEqual({ acceptedNames: { kind: '', plural: '' }, conditions: null, storedVersions: ['v1'] })
    expect(body.spec).toMatchObject({
      conversion: { strategy: 'None' },
      names: { singular: 'widget', listKind: 'WidgetList' },
    })
  })

  test('accepts names and establishes the CRD', async () => {
    await server.define(definition(anything))
    const { body } = await server.send(`GET ${one}`)
    expect(conditionOf(body, 'NamesAccepted')).toMatchObject({ reason: 'NoConflicts', message: 'no conflicts found' })
    expect(conditionOf(body, 'Established')).toMatchObject({ reason: 'InitialNamesAccepted' })
    expect(body.status.acceptedNames).toEqual(body.spec.names)
    const { fieldsV1 } = body.metadata.managedFields.find(({ subresource }: { subresource?: string }) => subresource)
    expect(Object.keys(fieldsV1['f:status']['f:conditions'])).toEqual([
      'k:{"type":"Established"}',
      'k:{"type":"NamesAccepted"}',
    ])
    expect((await server.send(`POST ${widgets}`, { body: widget('x', {}) })).status).toBe(201)
  })

  test('serves a CRD before it reports it as established', async () => {
    const watch = await server.plain.watch(`${crds}?watch=1`)
    await server.send(`POST ${crds}`, { body: definition(anything) })
    await server.until(`GET ${widgets}`, ({ status }) => status === 200)
    await server.until(`GET ${one}`, ({ body }) => conditionOf(body, 'Established')?.status === 'True')
    const reasons = watch.events.map(({ object }) => conditionOf(object, 'Established')?.reason)
    expect(reasons.slice(0, 2)).toEqual([undefined, 'Installing'])
    watch.stop()
    await watch.done
  })

  test('lists a CRD in discovery once it is established', async () => {
    const unlisted = (): boolean | undefined => {
      const { resources } = server.plain.server.parts
      return resources.find(group, 'v1', 'widgets')!.serving.unlisted ?? false
    }
    // A caBundle without certificates keeps the CRD from being established, while its names are accepted.
    const caBundle = Buffer.from('no certificates').toString('base64')
    const clientConfig = { url: 'https://127.0.0.1:1/', caBundle }
    const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } }
    await server.send(`POST ${crds}`, { body: definition(anything, { conversion }) })
    const named = await server.until(`GET ${one}`, ({ body }) => conditionOf(body, 'NamesAccepted') !== undefined)
    expect(conditionOf(named.body, 'NamesAccepted')).toMatchObject({ status: 'True' })
    expect((await server.send(`GET ${widgets}`)).status).toBe(200)
    expect(unlisted()).toBe(true)

    await server.send(`PATCH ${one}`, {
      body: { spec: { conversion: { strategy: 'None', webhook: null } } },
      headers: merge,
    })
    await server.until(`GET ${one}`, ({ body }) => conditionOf(body, 'Established')?.status === 'True')
    expect(unlisted()).toBe(false)
  })

  test('serves a CRD with conflicting names once the names are free', async () => {
    await server.define(definition(anything, { names: { plural: 'widgets', kind: 'Widget', shortNames: ['w'] } }))
    const other = {
      ...definition(anything, { names: { plural: 'gadgets', kind: 'Widget', shortNames: ['w', 'g'] } }),
      metadata: { name: `gadgets.${group}` },
    }
    await server.send(`POST ${crds}`, { body: other })
    const path = `${crds}/gadgets.${group}`
    const refused = await server.until(`GET ${path}`, ({ body }) => conditionOf(body, 'NamesAccepted') !== undefined)
    expect(conditionOf(refused.body, 'NamesAccepted')).toMatchObject({
      status: 'False',
      reason: 'ListKindConflict',
      message: '"WidgetList" is already in use',
    })
    expect(conditionOf(refused.body, 'Established')).toMatchObject({ status: 'False', reason: 'NotAccepted' })
    expect((await server.send(`GET /apis/${group}/v1/gadgets`)).status).toBe(404)
    await remove()
    await server.until(`GET ${path}`, ({ body }) => conditionOf(body, 'Established')?.status === 'True')
    await server.send(`DELETE ${path}`)
    await server.until(`GET ${path}`, ({ status }) => status === 404)
  })

  test('reports an empty list of versions as an empty list', async () => {
    await server.define(definition(anything))
    const headers = { 'content-type': 'application/merge-patch+json' }
    for (const [versions, quoted] of [
      [[], '[]'],
      [null, 'null'],
    ] as const) {
      const { body } = await server.send(`PATCH ${one}`, { body: { spec: { versions } }, headers })
      expect(body.message).toContain(`spec.versions: Invalid value: ${quoted}: must have exactly one version`)
    }
  })

  test('serves a changed CRD and ends the watches of the old one', async () => {
    await server.define(definition(anything))
    const watch = await server.plain.watch(`${widgets}?watch=1`)
    await server.define(definition([version('v1', anything), version('v2', anything)]))
    expect((await server.send(`GET /apis/${group}/v2/widgets`)).body.kind).toBe('WidgetList')
    await server.plain.clock.advance(1000)
    await watch.done
  })

  test('keeps watches open when only the status changes', async () => {
    await server.define(definition(anything))
    const watch = await server.plain.watch(`${widgets}?watch=1`)
    await server.send(`PATCH ${one}`, { body: { metadata: { labels: { x: 'y' } } }, headers: merge })
    await server.plain.clock.advance(2000)
    await server.send(`POST ${widgets}`, { body: widget('x', {}) })
    await server.until(`GET ${widgets}`, () => watch.events.length === 1)
    watch.stop()
    await watch.done
  })

  test('deletes custom resources with their CRD and waits for finalizers', async () => {
    await server.define(definition(anything))
    await server.send(`POST ${widgets}`, { body: widget('free', {}) })
    const kept = widget('kept', {}, { metadata: { name: 'kept', finalizers: ['example.com/wait'] } })
    await server.send(`POST ${widgets}`, { body: kept })
    const watch = await server.plain.watch(`${widgets}?watch=1`)
    const deleted = await server.send(`DELETE ${one}`)
    expect(deleted.status).toBe(200)
    expect(deleted.body.metadata.finalizers).toEqual(['customresourcecleanup.apiextensions.k8s.io'])
    expect(conditionOf(deleted.body, 'Terminating')).toMatchObject({ reason: 'InstanceDeletionPending' })
    await server.until(`GET ${one}`, ({ body }) => {
      return conditionOf(body, 'Terminating')?.reason === 'InstanceDeletionInProgress'
    })
    await server.until(`GET ${widgets}`, ({ body }) => body.items?.length === 1)
    const refused = await server.send(`POST ${widgets}`, { body: widget('late', {}) })
    expect(refused.body.message).toBe(
      `widgets.${group} "late" is forbidden: create not allowed while custom resource definition is terminating`,
    )
    await server.send(`PATCH ${widgets}/kept`, { body: { metadata: { finalizers: null } }, headers: merge })
    await server.until(`GET ${one}`, ({ status }) => status === 404)
    expect((await server.send(`GET ${widgets}`)).text).toBe('404 page not found\n')
    await server.plain.clock.advance(1000)
    await watch.done
    expect(watch.events.filter(({ type }) => type === 'DELETED')).toHaveLength(2)
  })

  test('accepts creates again when another finalizer keeps the CRD', async () => {
    const kept = { ...definition(anything), metadata: { name: `widgets.${group}`, finalizers: ['example.com/wait'] } }
    await server.define(kept)
    await server.send(`DELETE ${one}`)
    await server.until(`GET ${one}`, ({ body }) => {
      return conditionOf(body, 'Terminating')?.reason === 'InstanceDeletionCompleted'
    })
    await server.until(`POST ${widgets}?dryRun=All`, ({ status }) => status === 201, { body: widget('x', {}) })
    await server.send(`PATCH ${one}`, { body: { metadata: { finalizers: null } }, headers: merge })
    await server.until(`GET ${one}`, ({ status }) => status === 404)
  })

  test('reports custom resources that are not deleted in time', async () => {
    await server.define(definition(anything))
    const kept = widget('kept', {}, { metadata: { name: 'kept', finalizers: ['example.com/wait'] } })
    await server.send(`POST ${widgets}`, { body: kept })
    await server.send(`DELETE ${one}`)
    await server.until(`GET ${widgets}/kept`, ({ body }) => body.metadata.deletionTimestamp !== undefined)
    for (let i = 0; i < 5; i++) await server.until(`GET ${one}`, ({ status }) => status === 200)
    await server.plain.clock.advance(60_000)
    await server.until(`GET ${one}`, ({ body }) => conditionOf(body, 'Terminating')?.reason === 'InstanceDeletionCheck')
    await server.plain.clock.advance(1000)
    await server.send(`PATCH ${widgets}/kept`, { body: { metadata: { finalizers: null } }, headers: merge })
    await server.until(`GET ${one}`, ({ status }) => status === 404)
  })

  test('works with several servers on one store', async () => {
    const store = new MemoryStore()
    const [a, b] = await Promise.all([CrdServer.start(store), CrdServer.start(store)])
    await a.define(definition(anything))
    await b.until(`GET ${widgets}`, ({ status }) => status === 200)
    expect((await b.send(`POST ${widgets}`, { body: widget('x', { n: 1 }) })).status).toBe(201)
    expect((await a.send(`GET ${widgets}/x`)).body.spec).toEqual({ n: 1 })
    await b.send(`DELETE ${one}`)
    for (const server of [a, b]) {
      await server.until(`GET ${one}`, ({ status }) => status === 404)
      await server.until(`GET ${widgets}`, ({ text }) => text === '404 page not found\n')
    }
    await Promise.all([a[Symbol.asyncDispose](), b[Symbol.asyncDispose]()])
  })

  test('serves stored CRDs at start, even if one of them fails', async () => {
    const store = new MemoryStore()
    const first = await CrdServer.start(store)
    await first.define(definition(anything))
    const { entry } = await store.get(`/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.${group}`)
    await first[Symbol.asyncDispose]()
    const broken = JSON.parse(Buffer.from(entry!.value).toString())
    broken.metadata.name = `aaa.${group}`
    broken.spec.versions[0].storage = false
    const key = `/registry/apiextensions.k8s.io/customresourcedefinitions/aaa.${group}`
    await store.put(key, Buffer.from(JSON.stringify(broken)), 0)
    const second = await CrdServer.start(store)
    expect((await second.send(`GET ${widgets}`)).status).toBe(200)
    await second[Symbol.asyncDispose]()
  })

  test('adds every storage version to status.storedVersions', async () => {
    await server.define(definition([version('v1', anything), version('v2', anything)]))
    const swapped = [version('v1', anything, { storage: false }), version('v2', anything, { storage: true })]
    await server.define(definition(swapped))
    expect((await server.send(`GET ${one}`)).body.status.storedVersions).toEqual(['v1', 'v2'])
    const dropped = await server.send(`PATCH ${one}`, { body: { spec: { versions: [swapped[1]] } }, headers: merge })
    expect(dropped.body.message).toContain('status.storedVersions[0]: Invalid value: "v1": missing from spec.versions;')
  })
})
