// Capabilities of controller-runtime and multicluster-runtime for several clusters. Test names begin with the capability.
import { defineController, defineOperator, defineResource, kubeconfigSecrets, s } from 'kubewright'
import { createClient } from 'kubewright/client'
import { ConfigMap, Secret } from 'kubewright/k8s'
import { createCluster, nullLogger, systemClock, systemRandom } from 'kubewright/runtime'
import { clusterSource, defineKeyController, kindSource } from 'kubewright/sources'
import { startTestEnv, type TestEnv } from 'kubewright/testing'
import { describe, expect, test, vi } from 'vitest'

const Team = defineResource({
  group: 'capabilities.example.com',
  version: 'v1',
  kind: 'Team',
  spec: s.object({ size: s.int().default(1) }),
  status: s.object({ cluster: s.string() }),
})

const labels = { 'example.com/cluster': 'yes' }
const kubeconfig = (name: string, text: string) =>
  Secret({ metadata: { name, labels }, stringData: { kubeconfig: text } })
const clientOf = (env: TestEnv) => createClient({ transport: env.controlPlane.transport(), listNamespace: '' })
const team = (name: string) => Team({ metadata: { name }, spec: {} })
const isReported = (object: { readonly status?: object }) => object.status !== undefined

/** A server that never responds. */
const deadClient = () =>
  createClient({
    transport: {
      host: 'https://dead.example.com',
      send: ({ signal }) =>
        new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error))),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    },
  })

describe('kubeconfigSecrets()', () => {
  test('engage and disengage clusters: Secrets add and remove clusters, and a dead one does not block the others', async () => {
    await using east = await startTestEnv(undefined, { install: [Team] })
    await using west = await startTestEnv(undefined, { install: [Team] })
    const members = new Map([
      ['east', east],
      ['west', west],
    ])
    const operator = defineOperator({
      name: 'teams',
      controllers: [
        defineController(Team, {
          async reconcile(_, { cluster, clusters }) {
            // Every cluster can reach every other one, by name.
            await clusters.get('')?.client.list(Team, { namespace: 'default' })
            return { status: { cluster: cluster.name || 'main' } }
          },
        }),
      ],
      clusters: kubeconfigSecrets({
        namespace: 'default',
        selector: 'example.com/cluster',
        connect: (text) => (members.has(text) ? clientOf(members.get(text)!) : deadClient()),
      }),
    })
    await using env = await startTestEnv(operator)
    const clusters = () => [...env.manager!.clusters].map(({ name }) => name).sort()
    await env.client.create(kubeconfig('dead', 'dead'))
    await env.client.create(kubeconfig('east', 'east'))
    await env.client.create(kubeconfig('west', 'west'))
    for (const each of [env, east, west]) await each.client.create(team('a'))
    const statuses = await Promise.all([env, east, west].map((each) => each.until(Team, 'a', isReported)))
    expect(statuses.map(({ status }) => status?.cluster)).toEqual(['main', 'east', 'west'])
    const { ready } = await env.health()
    expect(ready.find(({ name }) => name === 'controllers')).toEqual({ name: 'controllers' })

    await env.client.delete(Secret, 'east')
    await env.client.patch(Secret, 'west', { metadata: { labels: { 'example.com/cluster': null } } })
    await vi.waitFor(() => expect(clusters().filter((name) => name !== 'dead')).toEqual([]), { timeout: 60_000 })
    await east.client.create(team('b'))
    expect((await east.client.get(Team, 'b')).status).toBeUndefined()
    await env.client.create(kubeconfig('east', 'east'))
    expect((await east.until(Team, 'b', isReported)).status?.cluster).toBe('east')
  })

  test('engage and disengage clusters: a kubeconfig with files or programs is refused', async () => {
    const operator = defineOperator({
      name: 'teams',
      controllers: [defineController(Team, { reconcile: () => undefined })],
      clusters: kubeconfigSecrets({ namespace: 'default', selector: 'example.com/cluster' }),
    })
    await using env = await startTestEnv(operator)
    const text = JSON.stringify({
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'a', user: { exec: { command: 'touch', args: ['/tmp/never'] } } }],
    })
    await env.client.create(kubeconfig('evil', text))
    await vi.waitFor(() => expect(env.reconciles().at(-1)?.error).toBeDefined(), { timeout: 60_000 })
    expect(String(env.reconciles().at(-1)?.error)).toContain(
      'Secret default/evil: users["a"].user.exec: a kubeconfig in a',
    )
  })
})

describe('manager.clusters', () => {
  test('engage and disengage clusters: a cluster that does not sync in time is rejected and undone', async () => {
    const operator = defineOperator({
      name: 'teams',
      controllers: [defineController(Team, { reconcile: () => undefined })],
    })
    await using env = await startTestEnv(operator)
    const parts = { clock: systemClock, random: systemRandom, log: nullLogger }
    await using dead = createCluster({ ...parts, api: deadClient(), name: 'dead' })
    await expect(env.manager!.clusters.engage(dead, { timeout: '50ms' })).rejects.toThrow(
      'Cannot engage cluster "dead" with manager "teams": it did not sync within 50ms: ',
    )
    expect([...env.manager!.clusters]).toEqual([])
    await env.client.create(team('a'))
    await env.settled()
    expect(env.reconciles()).toHaveLength(1)
  })

  test('engage and disengage clusters: controllers choose between the main cluster and the others', async () => {
    await using east = await startTestEnv(undefined, { install: [Team] })
    const seen: string[] = []
    const controllerOf = (name: 'main' | 'others') =>
      defineController(Team, {
        name,
        clusters: name,
        reconcile: ({ metadata }, { cluster }) => void seen.push(`${name} ${cluster.name}/${metadata.name}`),
      })
    const controllers = [controllerOf('main'), controllerOf('others')]
    await using env = await startTestEnv(defineOperator({ name: 'teams', controllers }))
    const parts = { clock: systemClock, random: systemRandom, log: nullLogger }
    await using cluster = createCluster({ ...parts, api: clientOf(east), name: 'east' })
    await env.manager!.clusters.engage(cluster)
    await env.client.create(team('a'))
    await east.client.create(team('b'))
    await vi.waitFor(() => expect(seen.sort()).toEqual(['main /a', 'others east/b']), { timeout: 60_000 })
    await env.manager!.clusters.disengage('east')
  })
})

describe('clusterSource()', () => {
  test('second cluster as a source: its cache is started with the source', async () => {
    await using east = await startTestEnv()
    const parts = { clock: systemClock, random: systemRandom, log: nullLogger }
    await using cluster = createCluster({ ...parts, api: clientOf(east), name: 'east' })
    const keys: string[] = []
    const controller = defineKeyController({
      name: 'maps',
      sources: [clusterSource(cluster, kindSource(ConfigMap, { scope: { namespaces: ['default'] } }))],
      reconcile: (key) => void keys.push(key),
    })
    await using _ = await startTestEnv(defineOperator({ name: 'maps', controllers: [controller] }))
    await east.client.create(ConfigMap({ metadata: { name: 'one' } }))
    await vi.waitFor(() => expect(keys).toContain('east//default/one'), { timeout: 60_000 })
  })
})
