// Rows 27 (fake client, interceptors) and 28 (the test suite on an existing cluster) of the capabilities.
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startControlPlane } from '@kubewright/controlplane'
import {
  ApiError,
  condition,
  defineController,
  defineOperator,
  defineResource,
  defineWebhook,
  invalid,
  s,
} from 'kubewright'
import { ConfigMap, CustomResourceDefinition, Namespace } from 'kubewright/k8s'
import { review, startTestEnv, testContext, testObject } from 'kubewright/testing'
import { afterEach, describe, expect, test, vi } from 'vitest'

const Site = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Site',
  spec: s.object({ text: s.string(), copies: s.int().default(1) }),
  status: s.object({ copies: s.int().optional(), conditions: s.conditions('Ready').optional() }),
})

const sites = defineController(Site, {
  owns: [ConfigMap],
  async reconcile({ metadata: { name }, spec }, { apply, event }) {
    if (spec.text === 'broken') throw new Error('The text is broken')
    await apply(ConfigMap({ metadata: { name }, data: { text: spec.text } }))
    event('Normal', 'Applied', spec.text)
    return { status: { copies: spec.copies, conditions: [condition('Ready', true, 'Serving')] }, requeueAfter: '1h' }
  },
  cleanup: ({ spec }) => (spec.text === 'keep' ? { requeueAfter: '1m' } : undefined),
})
const siteWebhook = defineWebhook(Site, {
  default: (site) => void (site.spec.text ||= 'empty'),
  validate: ({ spec }, { old, user }) => [
    old !== undefined && old.spec.text !== spec.text && user.name !== 'alice' && invalid('spec.text', 'only for alice'),
  ],
})
const operator = defineOperator({ name: 'sites', controllers: [sites], webhooks: [siteWebhook] })
const draft = (text: string, name = 'a') => Site({ metadata: { name }, spec: { text } })
const serves = (text: string) => (map: { data?: Readonly<Record<string, string>> }) => map.data?.['text'] === text

describe('unit tests', () => {
  test('Controller.reconcile() is called with typed arguments', async () => {
    const context = testContext()
    const outcome = await sites.reconcile(testObject(Site, { metadata: { name: 'a' }, spec: { text: 'hi' } }), context)
    expect(outcome).toMatchObject({ status: { copies: 1 }, requeueAfter: '1h' })
    expect(context.applied).toMatchObject([{ kind: 'ConfigMap', metadata: { name: 'a' }, data: { text: 'hi' } }])
    expect(context.events).toEqual([{ type: 'Normal', reason: 'Applied', message: 'hi' }])
    expect(() => context.client.list(Site)).toThrow("The test context has no 'client'")
  })

  test('Webhook.validate() and default() take a review', async () => {
    const old = testObject(Site, { metadata: { name: 'a' }, spec: { text: 'old' } })
    const now = testObject(Site, { metadata: { name: 'a' }, spec: { text: 'new' } })
    expect(await siteWebhook.validate(now, review({ old }))).toMatchObject([{ path: 'spec.text' }])
    expect(await siteWebhook.validate(now, review({ old, user: 'alice' }))).toEqual([false])
    const empty = draft('')
    await siteWebhook.default(empty, review())
    expect(empty.spec.text).toBe('empty')
  })

  test('TestEnv.step() reconciles once and returns the outcome or the error', async () => {
    await using env = await startTestEnv(operator, { time: 'virtual', manager: false })
    await env.client.create(draft('hi'))
    const { outcome, error, events } = await env.step(sites, 'a')
    expect([outcome?.requeueAfter, error, events.map(({ reason }) => reason)]).toEqual(['1h', undefined, ['Applied']])
    expect(await env.client.get(Site, 'a')).toMatchObject({
      metadata: { finalizers: ['sites.example.com/site'] },
      status: { copies: 1 },
    })
    expect((await env.client.get(ConfigMap, 'a')).metadata.ownerReferences).toMatchObject([{ kind: 'Site' }])

    await env.client.create(draft('broken', 'b'))
    expect((await env.step(sites, 'b')).error).toEqual(new Error('The text is broken'))
  })
})

describe('faults', () => {
  test('TestEnv.fail() fails chosen requests of the operator, before or after their effect', async () => {
    await using env = await startTestEnv(operator, { time: 'virtual' })
    using refused = env.fail({ verb: 'patch', kind: ConfigMap, name: 'a', times: 2, status: 500 })
    await env.client.create(draft('hi'))
    await env.until(ConfigMap, 'a', serves('hi'))
    expect(refused.hits).toBe(2)
    const errors = env.reconciles().flatMap(({ error }) => (error instanceof ApiError ? [error.status.code] : []))
    expect(errors).toEqual([500, 500])

    using lost = env.fail({ verb: 'patch', kind: Site, subresource: 'status', error: 'connection', after: true })
    await env.client.create(draft('two', 'b'))
    await env.until(Site, 'b', ({ status }) => status?.copies === 1)
    await env.settled()
    expect(lost.hits).toBe(1)
    expect(env.reconciles().find(({ key, error }) => key === 'default/b' && error)).toBeDefined()
  })

  test('TestEnv.cutWatches() ends watches, which resume without a missed change', async () => {
    await using env = await startTestEnv(operator, { time: 'virtual' })
    await env.client.create(draft('hi'))
    await env.until(ConfigMap, 'a', serves('hi'))
    expect(env.cutWatches(Site)).toBe(1)
    expect(env.cutWatches()).toBeGreaterThan(0)
    await env.client.patch(Site, 'a', { spec: { copies: 2 } })
    await env.until(Site, 'a', ({ status }) => status?.copies === 2)
  })

  test('TestEnv.restart() starts the operator with empty caches and queues', async () => {
    await using env = await startTestEnv(operator, { time: 'virtual' })
    const first = env.manager
    await env.client.create(draft('hi'))
    await env.until(ConfigMap, 'a', serves('hi'))
    await env.restart({ downtime: '5m' })
    expect(env.manager).not.toBe(first)
    await env.client.patch(Site, 'a', { spec: { copies: 3 } })
    await env.until(Site, 'a', ({ status }) => status?.copies === 3)
  })

  test.each([false, true])('TestEnv.crashAt() crashes at a request, after its effect: %s', async (after) => {
    await using env = await startTestEnv(operator, { time: 'virtual' })
    const crash = env.crashAt({ verb: 'patch', kind: ConfigMap, after, downtime: '1m' })
    await env.client.create(draft('hi'))
    await crash.restarted
    expect(crash.hits).toBe(1)
    await env.until(Site, 'a', ({ status }) => status?.copies === 1)
    expect((await env.client.get(ConfigMap, 'a')).data).toEqual({ text: 'hi' })
  })

  test('a failed wait shows where the code of the operator threw', async () => {
    await using env = await startTestEnv(operator, { time: 'virtual' })
    await env.client.create(draft('broken'))
    await expect(env.until(ConfigMap, 'a', () => true, { timeout: '1m' })).rejects.toThrow(
      /The last failed reconcile was site of default\/a:\n {2}The text is broken\n {6}at .*testing\.test\.ts:\d+/,
    )
  })
})

describe('KUBEWRIGHT_TEST_CLUSTER', () => {
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  test('startTestEnv() uses the cluster, in a namespace of its own, and cleans up', async ({ onTestFinished }) => {
    const cluster = await startControlPlane({ nodes: 0 })
    onTestFinished(() => cluster[Symbol.asyncDispose]())
    const { kubeconfig } = await cluster.listen()
    const file = join(mkdtempSync('/tmp/kubewright-test-'), 'kubeconfig')
    writeFileSync(file, kubeconfig)
    vi.stubEnv('KUBEWRIGHT_TEST_CLUSTER', file)
    const namespaces: string[] = []
    {
      await using env = await startTestEnv(operator, { time: 'virtual' })
      namespaces.push(env.namespace)
      expect([env.onCluster, env.namespace]).toEqual([true, expect.stringMatching(/^sites-[0-9a-f]{8}$/)])
      await env.client.create(draft(''))
      await env.until(ConfigMap, 'a', serves('empty'))
      await expect(env.client.patch(Site, 'a', { spec: { text: 'new' } })).rejects.toThrow('only for alice')
      await env.settled()
      await expect(env.advance('1h')).rejects.toMatchObject({ code: 'KW_TEST_ON_CLUSTER' })
      expect(() => env.controlPlane.clock).toThrow("'controlPlane' needs the embedded control plane")
    }
    const admin = cluster.client()
    expect(await admin.find(Namespace, namespaces[0]!)).toBeUndefined()
    const kinds = await admin.list(CustomResourceDefinition, { labels: { 'kubewright.dev/test': 'true' } })
    expect(kinds.map(({ metadata }) => metadata.name)).toEqual(['sites.example.com'])

    vi.stubEnv('KUBEWRIGHT_TEST_CLUSTER', 'no-such-context')
    await expect(startTestEnv(operator)).rejects.toMatchObject({ code: 'KW_TEST_CLUSTER' })
  })
})
