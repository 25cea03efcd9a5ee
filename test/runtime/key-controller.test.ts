// A key controller with a real cache, a real client and the embedded server.
import { controllerRef, crdOf, defineResource, parseKey } from '@kubewright/api'
import { memoryLogger, seededRandom, systemClock, VirtualClock, withDeadline } from '@kubewright/base'
import { type ApiClient, bearerToken, createClient, inProcessTransport } from '@kubewright/client'
import { ConfigMap, CustomResourceDefinition, Secret } from '@kubewright/k8s'
import {
  type ControllerRunner,
  changed,
  createCluster,
  createControllerRunner,
  createMetricRegistry,
  defineKeyController,
  forOwner,
  type KeyControllerOptions,
  kindSource,
  noTracer,
  type ReconcileRecord,
} from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { assembleServer } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { afterAll, beforeAll, expect, test } from 'vitest'

const namespace = 'default'
let api: ApiClient
let stop: () => Promise<void>

beforeAll(async () => {
  const store = new MemoryStore()
  const access = { tokens: [{ token: 'admin', user: { name: 'admin', groups: ['system:masters'] } }] }
  const server = await assembleServer({ store, access })
  const transport = inProcessTransport({ handler: server.handler })
  api = createClient({ transport, credentials: bearerToken('admin') })
  stop = async () => {
    await transport[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  }
})
afterAll(() => stop())

function runOnServer(options: KeyControllerOptions) {
  const clock = new VirtualClock()
  const log = memoryLogger()
  const random = seededRandom(7)
  const metrics = createMetricRegistry()
  const cluster = createCluster({ api, clock, random, log, metrics })
  const parts = {
    cluster,
    clock,
    random,
    log,
    metrics,
    tracer: noTracer,
    events: { record: () => undefined },
    operator: 'test',
  }
  const runner = createControllerRunner(defineKeyController(options), parts)
  const end = new AbortController()
  cluster.cache.start()
  const working = runner.work({ drain: end.signal, abort: end.signal })
  return {
    clock,
    runner,
    log,
    [Symbol.asyncDispose]: async () => {
      end.abort()
      await working
      await runner[Symbol.asyncDispose]()
      await cluster[Symbol.asyncDispose]()
    },
  }
}

/** Resolves with the next reconcile that matches. */
function reconciled(runner: ControllerRunner, matches: (record: ReconcileRecord) => boolean): Promise<ReconcileRecord> {
  const found = new Promise<ReconcileRecord>((resolve) => {
    const listening = runner.onReconciled((record) => {
      if (!matches(record)) return
      listening[Symbol.dispose]()
      resolve(record)
    })
  })
  return withDeadline(systemClock, '20s', 'a matching reconcile', () => found)
}

test('defineKeyController() restores owned objects, and reports the causes', async () => {
  await using running = runOnServer({
    name: 'copy',
    kind: ConfigMap,
    sources: [kindSource(ConfigMap), kindSource(Secret, { map: forOwner(ConfigMap) })],
    async reconcile(key, { client }) {
      const config = await client.find(ConfigMap, key)
      if (config?.metadata.labels?.['copy'] !== 'yes') return
      const { name } = config.metadata
      const metadata = { name, namespace, ownerReferences: [controllerRef(config)] }
      await client.apply(Secret({ metadata, stringData: { ...config.data } }), { fieldManager: 'copy', force: true })
    },
  })
  const { runner } = running
  const key = `${namespace}/settings`
  const byChild = (event: string) => (record: ReconcileRecord) =>
    record.key === key && record.causes.some((cause) => cause.kind === 'v1 Secret' && cause.event === event)
  const made = reconciled(runner, byChild('add'))
  await api.create(ConfigMap({ metadata: { name: 'settings', namespace, labels: { copy: 'yes' } }, data: { a: '1' } }))
  expect((await made).result).toBe('success')

  const reverted = reconciled(runner, byChild('update'))
  await api.patch(Secret, key, { data: { a: btoa('2') } }, { fieldManager: 'somebody' })
  const { causes } = await reverted
  const [cause] = causes.filter(({ kind }) => kind === 'v1 Secret')
  expect(cause).toMatchObject({ object: key, paths: ['data.a'], by: ['somebody'] })
  expect(atob((await api.get(Secret, key)).data?.['a'] ?? '')).toBe('1')

  const remade = reconciled(runner, byChild('delete'))
  await api.delete(Secret, key)
  await remade
  expect(await api.find(Secret, key)).toBeDefined()
  expect(runner.problems()).toEqual([])
})

test('defineKeyController() cleans up although a predicate on the data rejects the update that starts the deletion', async () => {
  const finalizer = 'example.com/cleanup'
  await using running = runOnServer({
    name: 'cleanup',
    kind: ConfigMap,
    sources: [kindSource(ConfigMap, { predicates: [changed('data')] })],
    async reconcile(key, { client }) {
      const config = await client.find(ConfigMap, key)
      if (config?.metadata.deletionTimestamp === undefined) return
      await client.patch(ConfigMap, key, { metadata: { finalizers: null } } as never)
    },
  })
  const key = `${namespace}/guarded`
  const seen = reconciled(running.runner, (record) => record.key === key)
  await api.create(ConfigMap({ metadata: { name: 'guarded', namespace, finalizers: [finalizer] }, data: { a: '1' } }))
  await seen
  const gone = reconciled(
    running.runner,
    ({ key: other, causes }) => other === key && causes.some(({ event }) => event === 'delete'),
  )
  await api.delete(ConfigMap, key)
  await gone
  expect(await api.find(ConfigMap, key)).toBeUndefined()
})

test('kindSource() with optional watches a kind once its CRD is installed', async () => {
  const Gadget = defineResource({
    group: 'late.example.com',
    version: 'v1',
    kind: 'Gadget',
    spec: s.object({ size: s.int() }),
  })
  await using running = runOnServer({
    name: 'late',
    kind: Gadget,
    sources: [kindSource(ConfigMap, { predicates: [changed('data')] }), kindSource(Gadget, { optional: true })],
    reconcile: () => undefined,
  })
  const { clock, runner } = running
  await runner.warmUp()
  expect(runner.problems()).toEqual([])
  await api.create(crdOf(Gadget) as never)
  const found = reconciled(runner, ({ key }) => parseKey(key).name === 'first')
  let isFound = false
  void found.then(() => {
    isFound = true
  })
  await createWhenServed(Gadget({ metadata: { name: 'first', namespace }, spec: { size: 1 } }))
  for (let second = 0; second < 120 && !isFound; second++) await clock.advance('1s')
  expect((await found).causes).toMatchObject([{ kind: 'late.example.com/v1 Gadget', object: `${namespace}/first` }])

  const gone = reconciled(runner, ({ causes }) => causes.some(({ event }) => event === 'delete'))
  await api.delete(CustomResourceDefinition, 'gadgets.late.example.com')
  expect((await gone).key).toBe(`${namespace}/first`)
  await clock.advance('1m')
  expect(runner.problems()).toEqual([])
})

// A CRD is served a moment after its creation.
async function createWhenServed(draft: Parameters<ApiClient['create']>[0]): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await api.create(draft)
      return
    } catch (error) {
      if (tries >= 1000) throw error
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}
