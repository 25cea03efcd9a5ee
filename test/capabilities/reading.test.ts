// Capabilities of controller-runtime around the cache. Test names begin with the capability.
import { cached, defineController, defineOperator, defineResource, index, s, through, watch } from 'kubewright'
import { ConfigMap, Secret } from 'kubewright/k8s'
import { startTestEnv } from 'kubewright/testing'
import { describe, expect, test } from 'vitest'

const Team = defineResource({
  group: 'capabilities.example.com',
  version: 'v1',
  kind: 'Team',
  spec: s.object({ secrets: s.array(s.object({ name: s.string() })).default([]), broken: s.bool().optional() }),
  status: s.object({ phase: s.string() }),
})

const bySecret = index(Team, 'bySecret', (team) => team.spec.secrets.map(({ name }) => name))
const byPhase = index(Team, 'byPhase', (team) => `${team.metadata.name.length}-${team.status?.phase ?? 'None'}`)

const team = (name: string, ...secrets: readonly string[]) =>
  Team({ metadata: { name }, spec: { secrets: secrets.map((secret) => ({ name: secret })) } })

/** The number of reads that were sent to the server, by reason. */
function liveReads(metrics: string, kind: string): Record<string, number> {
  const lines = metrics.matchAll(/^kubewright_client_live_reads_total\{(.*)\} (\d+)$/gm)
  return Object.fromEntries(
    [...lines].flatMap(([, labels = '', count]) =>
      labels.includes(`kind="${kind}"`) ? [[/reason="(\w+)"/.exec(labels)?.[1], Number(count)]] : [],
    ),
  )
}

describe('client.list()', () => {
  test('IndexField(func): indexes over arrays, status and computed keys answer from the cache and live alike', async () => {
    const operator = defineOperator({
      name: 'teams',
      controllers: [
        defineController(Team, { reconcile: ({ metadata }) => ({ status: { phase: metadata.name.toUpperCase() } }) }),
      ],
    })
    await using env = await startTestEnv(operator)
    for (const one of [team('a', 'x', 'y'), team('b', 'y', 'y'), team('cc')]) await env.client.create(one)
    await env.settled()
    const { client } = env.manager!.cluster
    for (const consistency of ['own-writes', 'cached', 'live'] as const) {
      const names = async (query: ReturnType<typeof bySecret>) =>
        (await client.list(Team, { index: query, consistency })).map(({ metadata }) => metadata.name)
      expect(await names(bySecret('y'))).toEqual(['a', 'b'])
      expect(await names(bySecret('none'))).toEqual([])
      expect(await names(byPhase('2-CC'))).toEqual(['cc'])
    }
    expect(liveReads(env.metrics(), 'Team')).toEqual({ asked: 3 })

    // Own writes count at once, and conditions can be combined.
    await client.patch(Team, 'cc', { spec: { secrets: [{ name: 'y' }] } })
    expect(await client.list(Team, { index: bySecret('y') })).toHaveLength(3)
    expect(await client.list(Team, { index: bySecret('y'), fields: { 'metadata.name': 'cc' } })).toHaveLength(1)
    expect(await env.client.list(Team, { index: bySecret('y') })).toHaveLength(3)
  })

  test('IndexField(func): an index of another kind, or whose function fails, is an error that names it', async () => {
    const strict = index(Team, 'strict', ({ spec, metadata }) => {
      if (spec.broken) throw new Error('broken')
      return metadata.name
    })
    const operator = defineOperator({
      name: 'teams',
      controllers: [defineController(Team, { reconcile: () => undefined })],
    })
    await using env = await startTestEnv(operator)
    const { client } = env.manager!.cluster
    // The type check refuses this as well.
    await expect(client.list(ConfigMap, { index: bySecret('x') as never })).rejects.toThrow(
      'Cannot list ConfigMap by index "bySecret": it is an index of capabilities.example.com/v1 Team',
    )
    await env.client.create(Team({ metadata: { name: 'a' }, spec: {} }))
    await env.settled()
    expect(await client.list(Team, { index: strict('a') })).toHaveLength(1)
    await env.client.create(Team({ metadata: { name: 'b' }, spec: { broken: true } }))
    await env.settled()
    const message = 'Index "strict" failed for Team default/b: broken: make its function accept every object'
    await expect(client.list(Team, { index: strict('a') })).rejects.toThrow(message)
    await expect(client.list(Team, { index: strict('a'), consistency: 'live' })).rejects.toThrow(message)
  })

  test('IndexField(func): a watch through an index reconciles the objects that refer to the changed one', async () => {
    const seen = new Map<string, string[]>()
    const operator = defineOperator({
      name: 'teams',
      controllers: [
        defineController(Team, {
          watches: [watch(Secret, through(bySecret))],
          async reconcile({ metadata, spec }, { client }) {
            const found = await Promise.all(spec.secrets.map(({ name }) => client.find(Secret, name)))
            seen.set(
              metadata.name,
              found.map((secret) => secret?.data?.['token'] ?? 'missing'),
            )
          },
        }),
      ],
    })
    await using env = await startTestEnv(operator, { time: 'virtual' })
    await env.client.create(team('a', 'x', 'y'))
    await env.client.create(team('b', 'y'))
    await env.settled()
    const before = env.reconciles().length
    await env.client.create(Secret({ metadata: { name: 'x' }, stringData: { token: 'one' } }))
    await env.settled()
    expect(Object.fromEntries(seen)).toEqual({ a: ['b25l', 'missing'], b: ['missing'] })
    expect(env.reconciles().length).toBe(before + 1)
    await env.client.delete(Secret, 'x')
    await env.settled()
    expect(seen.get('a')).toEqual(['missing', 'missing'])
    expect(liveReads(env.metrics(), 'Team')).toEqual({})
  })

  test.each(['live', 'absent'] as const)('reads from a selected cache: outside is %s', async (outside) => {
    const operator = defineOperator({
      name: 'teams',
      controllers: [defineController(Team, { watches: [watch(ConfigMap, () => [])], reconcile: () => undefined })],
      cache: { byKind: [cached(ConfigMap, { selector: 'team', outside })] },
    })
    await using env = await startTestEnv(operator, { rights: 'all' })
    const labels = { team: 'a' }
    await env.client.create(ConfigMap({ metadata: { name: 'in', labels } }))
    await env.client.create(ConfigMap({ metadata: { name: 'out' } }))
    await env.settled()
    const { client } = env.manager!.cluster
    const names = async (options: Parameters<typeof client.list>[1]) =>
      (await client.list(ConfigMap, { namespace: 'default', ...options })).map(({ metadata }) => metadata.name)
    const isLive = outside === 'live'
    const reads = () => liveReads(env.metrics(), 'ConfigMap')['not_selected'] ?? 0

    // The query implies the selector, or the object is cached.
    expect(await names({ labels })).toEqual(['in'])
    expect(await names({ selector: 'team in (a, b)' })).toEqual(['in'])
    expect((await client.get(ConfigMap, 'in')).metadata.name).toBe('in')
    expect(reads()).toBe(0)

    expect((await names({})).includes('out')).toBe(isLive)
    expect((await client.find(ConfigMap, 'out'))?.metadata.name).toBe(isLive ? 'out' : undefined)
    expect(await client.find(ConfigMap, 'nowhere')).toBeUndefined()
    expect(reads()).toBe(isLive ? 3 : 0)

    // Own writes move objects into the selection and out of it.
    await client.patch(ConfigMap, 'out', { metadata: { labels: { team: 'a' } } })
    expect(await names({ labels })).toEqual(['in', 'out'])
    await client.patch(ConfigMap, 'in', { metadata: { labels: { team: null } } })
    expect(await names({ labels })).toEqual(['out'])
    expect((await client.find(ConfigMap, 'in')) !== undefined).toBe(isLive)
    await client.delete(ConfigMap, 'out')
    expect(await names({ labels })).toEqual([])
    await env.settled()
    expect(await names({ labels })).toEqual([])
    await env.client.patch(ConfigMap, 'in', { metadata: { labels: { team: 'a' } } })
    await env.settled()
    expect(await names({ labels })).toEqual(['in'])
  })

  test('reads from a selected cache: the object of a controller with a selector comes from the cache', async () => {
    const reconciled: string[] = []
    const operator = defineOperator({
      name: 'teams',
      controllers: [
        defineController(Team, { selector: 'mine', reconcile: ({ metadata }) => void reconciled.push(metadata.name) }),
      ],
    })
    await using env = await startTestEnv(operator)
    await env.client.create(Team({ metadata: { name: 'a', labels: { mine: 'yes' } }, spec: {} }))
    await env.client.create(Team({ metadata: { name: 'b' }, spec: {} }))
    await env.settled()
    expect(reconciled).toEqual(['a'])
    expect(liveReads(env.metrics(), 'Team')).toEqual({})
  })
})

describe('ControllerOptions.reads', () => {
  test('caches a kind with the derived permission, and its changes reconcile nothing', async () => {
    const seen: (string | undefined)[] = []
    const operator = defineOperator({
      name: 'readers',
      controllers: [
        defineController(Team, {
          reads: [ConfigMap],
          async reconcile(_, { client }) {
            seen.push((await client.get(ConfigMap, 'settings')).data?.['colour'])
          },
        }),
      ],
    })
    await using env = await startTestEnv(operator)
    await env.client.create(ConfigMap({ metadata: { name: 'settings' }, data: { colour: 'blue' } }))
    await env.client.create(team('a'))
    await env.settled()
    await env.client.patch(ConfigMap, 'settings', { data: { colour: 'red' } })
    await env.settled()
    expect([seen, liveReads(env.metrics(), 'ConfigMap')]).toEqual([['blue'], {}])
    await env.client.patch(Team, 'a', { metadata: { labels: { changed: 'yes' } } })
    await env.settled()
    expect(seen).toEqual(['blue', 'red'])
  })
})
