// Spans of a real reconcile, through an OpenTelemetry API that tracks the current span like the real one.
import { AsyncLocalStorage } from 'node:async_hooks'
import { crdOf, defineResource } from '@kubewright/api'
import { Deferred, systemClock, withDeadline } from '@kubewright/base'
import { bearerToken, createClient, inProcessTransport } from '@kubewright/client'
import { ConfigMap, CustomResourceDefinition } from '@kubewright/k8s'
import {
  createManager,
  defineController,
  defineOperator,
  type OpenTelemetryApi,
  openTelemetryTracer,
  traceRequests,
} from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { assembleServer } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { expect, test } from 'vitest'
import { watchObject } from '../../packages/testing/src/watch-object.ts'

const isEstablished = (crd: CustomResourceDefinition | undefined): boolean =>
  crd?.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True') ?? false

interface RecordedSpan {
  readonly name: string
  readonly parent: RecordedSpan | undefined
  readonly attributes: Record<string, unknown>
  status?: string
  ended: boolean
}

function recordingApi(): { readonly api: OpenTelemetryApi; readonly spans: RecordedSpan[] } {
  const current = new AsyncLocalStorage<RecordedSpan>()
  const spans: RecordedSpan[] = []
  const api: OpenTelemetryApi = {
    trace: {
      getTracer: () => ({
        startActiveSpan: (name, { attributes }, work) => {
          const span: RecordedSpan = { name, parent: current.getStore(), attributes: { ...attributes }, ended: false }
          spans.push(span)
          return current.run(span, () =>
            work({
              setAttribute: (key, value) => (span.attributes[key] = value),
              recordException: () => undefined,
              setStatus: ({ message = '' }) => (span.status = message),
              end: () => void (span.ended = true),
            }),
          )
        },
      }),
    },
  }
  return { api, spans }
}

const Home = defineResource({ group: 'ajd.example.com', version: 'v1', kind: 'Home', spec: s.object({}) })

test('an event, its time in the queue, its reconcile and the requests are nested spans', async () => {
  const store = new MemoryStore()
  const access = { tokens: [{ token: 'admin', user: { name: 'admin', groups: ['system:masters'] } }] }
  const server = await assembleServer({ store, access })
  const transport = inProcessTransport({ handler: server.handler })
  const { api, spans } = recordingApi()
  const tracer = openTelemetryTracer(api)
  const client = createClient({ transport, credentials: bearerToken('admin'), around: traceRequests(tracer) })
  const { metadata } = await client.create(crdOf(Home))
  await watchObject(client, CustomResourceDefinition, metadata.name, isEstablished, {
    namespace: '',
    signal: AbortSignal.timeout(20_000),
  })
  await client.create(Home({ metadata: { name: 'cosy' }, spec: {} }))

  const done = new Deferred<void>()
  const controller = defineController(Home, {
    owns: [ConfigMap],
    async reconcile(home, { apply }) {
      await apply(ConfigMap({ metadata: { name: home.metadata.name } }))
      done.resolve()
    },
  })
  const manager = createManager({ operator: defineOperator({ name: 'a', controllers: [controller] }), client, tracer })
  const stop = new AbortController()
  const running = manager.start({ signal: stop.signal })
  await withDeadline(systemClock, '20s', 'the reconcile', () => done.promise)
  stop.abort()
  await running

  const reconcile = spans.find(({ name }) => name === 'reconcile')
  const event = spans.find(({ name }) => name === 'event')
  const queue = spans.find(({ name }) => name === 'queue')
  expect(event).toMatchObject({ parent: undefined, ended: true })
  expect(queue).toMatchObject({ ended: true, attributes: { 'queue.wait_millis': expect.any(Number) } })
  expect([queue?.parent, reconcile?.parent]).toEqual([event, event])
  expect(reconcile).toMatchObject({
    ended: true,
    attributes: { 'controller.name': 'home', 'reconcile.key': 'default/cosy', 'queue.wait_millis': expect.any(Number) },
  })
  expect(reconcile?.attributes['reconcile.causes']).toContain('add ajd.example.com/v1 Home default/cosy')
  const apply = spans.find(({ name }) => name === 'PATCH configmaps')
  expect(apply?.parent).toBe(reconcile)
  expect(apply).toMatchObject({ ended: true, attributes: { 'k8s.object.name': 'cosy' } })
  // The watches of the cache do not belong to a reconcile.
  const ofReconciles = spans.filter(({ name, parent }) => name === 'GET homes' && parent !== undefined)
  // Before it creates a child, `apply` reads the owner.
  expect(ofReconciles.map(({ attributes }) => attributes['k8s.object.name'])).toEqual(['cosy'])

  await transport[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
})
