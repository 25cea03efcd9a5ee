// Capabilities of controller-runtime that are settings of the whole operator. Test names begin with the capability.
import { get } from 'node:http'
import { cached, defineController, defineOperator, defineResource, s } from 'kubewright'
import { ConfigMap, Secret } from 'kubewright/k8s'
import {
  debugHandler,
  memoryHttpListener,
  nullLogger as silent,
  systemHttpListener,
  systemRunHost,
} from 'kubewright/runtime'
import { counter } from 'kubewright/telemetry'
import { startTestEnv } from 'kubewright/testing'
import { describe, expect, test } from 'vitest'

const Team = defineResource({
  group: 'capabilities.example.com',
  version: 'v1',
  kind: 'Team',
  spec: s.object({ secret: s.string() }),
})

describe('defineOperator()', () => {
  test('cache ByObject selectors, transform: settings of the operator reach its cache', async () => {
    const operator = defineOperator({
      name: 'teams',
      controllers: [
        defineController(Team, {
          owns: [ConfigMap],
          reconcile: () => undefined,
        }),
      ],
      cache: {
        dropManagedFields: true,
        byKind: [cached(ConfigMap, { selector: { matchLabels: { cached: 'yes' } }, transform: withoutData })],
      },
    })
    await using env = await startTestEnv(operator)
    const metadata = { name: 'one', labels: { cached: 'yes' } }
    await env.client.create(ConfigMap({ metadata, data: { large: 'text' } }))
    await env.client.create(ConfigMap({ metadata: { name: 'other' } }))
    await env.settled()
    expect(env.manager?.cluster.cache.peek(ConfigMap)).toBeUndefined()
    const store = env.manager!.cluster.cache.use(ConfigMap).store
    expect(store.keys()).toEqual(['default/one'])
    expect(store.get('default/one')).not.toHaveProperty('data')
    expect(store.get('default/one')?.metadata).not.toHaveProperty('managedFields')
  })

  test('cache ByObject selectors, transform: namespaces of the cache limit what is watched', async () => {
    const reconciled: string[] = []
    const operator = defineOperator({
      name: 'teams',
      controllers: [
        defineController(Team, { reconcile: (team) => void reconciled.push(team.metadata.namespace ?? '') }),
      ],
      cache: { namespaces: ['default'] },
    })
    await using env = await startTestEnv(operator)
    await env.client.create(Team({ metadata: { name: 'a' }, spec: { secret: 'x' } }))
    await env.client.create(Team({ metadata: { name: 'a', namespace: 'kube-system' }, spec: { secret: 'x' } }))
    await env.settled()
    expect(reconciled).toEqual(['default'])
  })

  test('custom health and readiness checks: the operator defines them, and they can read the cluster', async () => {
    let isHealthy = true
    const operator = defineOperator({
      name: 'teams',
      controllers: [defineController(Team, { reconcile: () => undefined })],
      checks: {
        live: {
          backend: () => {
            if (!isHealthy) throw new Error('the backend does not respond')
          },
        },
        ready: {
          teams: async ({ client, signal }) => {
            if ((await client.list(Team, { signal })).length === 0) throw new Error('there are no teams')
          },
        },
      },
    })
    await using env = await startTestEnv(operator)
    const named = async () => {
      const { live, ready } = await env.health()
      return [live.find(({ name }) => name === 'backend'), ready.find(({ name }) => name === 'teams')]
    }
    expect(await named()).toEqual([{ name: 'backend' }, { name: 'teams', reason: 'there are no teams' }])
    await env.client.create(Team({ metadata: { name: 'a' }, spec: { secret: 'x' } }))
    await env.settled()
    isHealthy = false
    expect(await named()).toEqual([{ name: 'backend', reason: 'the backend does not respond' }, { name: 'teams' }])
  })

  test('custom metrics: a counter of the operator appears on its metrics page', async () => {
    const synced = counter('capabilities_synced_total', { help: 'Number of synced teams.', labels: ['team'] })
    const operator = defineOperator({
      name: 'teams',
      controllers: [defineController(Team, { reconcile: ({ metadata }) => synced.inc({ team: metadata.name }) })],
      metrics: [synced],
    })
    await using env = await startTestEnv(operator)
    await env.client.create(Team({ metadata: { name: 'a' }, spec: { secret: 'x' } }))
    await env.settled()
    expect(synced.value({ team: 'a' })).toBe(1)
    expect(env.metrics()).toContain('capabilities_synced_total{team="a"} 1\n')
    expect(env.metrics()).toContain('controller_runtime_reconcile_total')
  })

  test('extra handlers on the metrics server: the operator serves further paths, and they can read the cluster', async () => {
    const operator = defineOperator({
      name: 'teams',
      controllers: [defineController(Team, { reconcile: () => undefined })],
      metricsHandlers: {
        '/teams': async ({ client }) => (await client.list(Team)).map(({ metadata }) => metadata.name).join(),
        '/teams/': ({ path, query }) => ({ status: 418, body: `${path}?${query}` }),
      },
    })
    await using env = await startTestEnv(operator)
    await env.client.create(Team({ metadata: { name: 'a' }, spec: { secret: 'x' } }))
    await env.settled()
    expect(await env.request('/teams')).toMatchObject({ status: 200, body: 'a' })
    expect(await env.request('/teams/b/c?d=e')).toEqual({ status: 418, body: '/teams/b/c?d=e' })
    expect(await env.request('/other')).toMatchObject({ status: 404 })
    expect((await env.request('/metrics')).body).toContain('controller_runtime_reconcile_total')
  })

  test('rejects handlers of reserved paths', () => {
    const handler = () => ''
    for (const path of ['/metrics', 'teams', '/', '']) {
      expect(() => defineOperator({ name: 'o', metricsHandlers: { [path]: handler } })).toThrow(
        `has the path "${path}"`,
      )
    }
  })

  test('rejects two metrics with one name, empty namespaces and checks with a slash', () => {
    const help = 'h'
    expect(() => defineOperator({ name: 'o', metrics: [counter('a', { help }), counter('a', { help })] })).toThrow(
      'two metrics are named "a"',
    )
    expect(() => defineOperator({ name: 'o', cache: { namespaces: [''] } })).toThrow("'cache.namespaces' has an empty")
    expect(() => defineOperator({ name: 'o', cache: { byKind: [cached(Secret, { namespaces: [''] })] } })).toThrow(
      "'cache.byKind[Secret].namespaces' has an empty",
    )
    expect(() => defineOperator({ name: 'o', checks: { live: { 'a/b': () => undefined } } })).toThrow('named "a/b"')
  })
})

describe('the debug address', () => {
  test('profiles: the debug address serves CPU profiles and heap snapshots to this machine', async () => {
    await using env = await startTestEnv(defineOperator({ name: 'none' }))
    const { clock, profiler } = systemRunHost()
    const handler = debugHandler({ manager: env.manager!, clock, profiler })
    const listener = memoryHttpListener()
    await using _ = await listener.listen({ name: 'debug', host: '', port: 0, handler, log: silent })
    const profile = await listener.request('debug', '/debug/profile?seconds=0.01')
    expect(Object.keys(JSON.parse(profile.body))).toContain('samples')
    expect((await listener.request('debug', '/debug/profile?seconds=x')).status).toBe(400)
    expect((await listener.request('debug', '/debug/heap', { remoteAddress: '10.0.0.7' })).status).toBe(403)

    await using served = await systemHttpListener.listen({
      name: 'debug',
      host: '127.0.0.1',
      port: 0,
      handler,
      log: silent,
    })
    const start = await new Promise<string>((resolve, reject) => {
      get(`http://127.0.0.1:${served.port}/debug/heap`, (response) => {
        response.once('data', (chunk: Buffer) => {
          response.destroy()
          resolve(chunk.toString())
        })
      }).once('error', reject)
    })
    expect(start).toContain('{"snapshot":{"meta"')
  })
})

function withoutData<T extends { readonly data?: unknown }>({ data: _, ...others }: T): T {
  return others as T
}
