// Capabilities of controller-runtime that change what runs at run time. Test names begin with the capability.
import { can, defineController, defineOperator, defineResource, s } from 'kubewright'
import { ConfigMap, Secret } from 'kubewright/k8s'
import { startTestEnv } from 'kubewright/testing'
import { describe, expect, test } from 'vitest'

const Team = defineResource({
  group: 'capabilities.example.com',
  version: 'v1',
  kind: 'Team',
  spec: s.object({ secrets: s.array(s.string()).default([]), maps: s.string().optional() }),
})

const team = (name: string, spec: { secrets?: string[]; maps?: string }) => Team({ metadata: { name }, spec })
const secret = (name: string, token: string) => Secret({ metadata: { name }, data: { token } })

describe('ctx.watch()', () => {
  test('controller.Watch at run time: objects are watched as long as the last reconcile wants them', async () => {
    const seen = new Map<string, string>()
    const operator = defineOperator({
      name: 'teams',
      controllers: [
        defineController(Team, {
          rbac: [can(Secret, 'get', 'list', 'watch')],
          async reconcile({ metadata, spec }, { watch }) {
            const found = await Promise.all(spec.secrets.map((name) => watch(Secret, name)))
            seen.set(metadata.name, found.map((one) => one?.data?.['token'] ?? '-').join(' '))
          },
        }),
      ],
    })
    await using env = await startTestEnv(operator, { time: 'virtual' })
    const watches = () => [...env.manager!.cluster.cache.health.keys()].filter((name) => name.startsWith('secrets'))
    await env.client.create(secret('x', 'AAAA'))
    await env.client.create(team('a', { secrets: ['x', 'y'] }))
    await env.client.create(team('b', { secrets: ['y'] }))
    await env.settled()
    expect(Object.fromEntries(seen)).toEqual({ a: 'AAAA -', b: '-' })
    expect(watches()).toHaveLength(2)
    const count = () => env.reconciles().length
    let before = count()

    await env.client.create(secret('y', 'BBBB'))
    await env.client.create(secret('other', 'CCCC'))
    await env.settled()
    expect(Object.fromEntries(seen)).toEqual({ a: 'AAAA BBBB', b: 'BBBB' })
    expect(count()).toBe(before + 2)

    // The watch of y stays for b until b is deleted.
    await env.client.patch(Team, 'a', { spec: { secrets: [] } })
    await env.settled()
    expect(watches()).toHaveLength(1)
    before = count()
    await env.client.patch(Secret, 'y', { data: { token: 'DDDD' } })
    await env.client.delete(Secret, 'x')
    await env.settled()
    expect([seen.get('b'), count()]).toEqual(['DDDD', before + 1])
    await env.client.delete(Team, 'b')
    await env.settled()
    expect(watches()).toEqual([])
  })

  test('controller.Watch at run time: a selection, and failures that keep the watches', async () => {
    const counts: number[] = []
    let isFailing = false
    const operator = defineOperator({
      name: 'teams',
      controllers: [
        defineController(Team, {
          rbac: [can(ConfigMap, 'get', 'list', 'watch')],
          async reconcile({ metadata: { namespace }, spec }, { watch }) {
            if (isFailing) throw new Error('not now')
            if (spec.maps === undefined) return
            counts.push((await watch(ConfigMap, { selector: spec.maps, namespace })).length)
          },
        }),
      ],
    })
    await using env = await startTestEnv(operator, { time: 'virtual' })
    const map = (name: string) => ConfigMap({ metadata: { name, labels: { app: 'a' } } })
    await env.client.create(map('one'))
    await env.client.create(team('a', { maps: 'app=a' }))
    await env.settled()
    await env.client.create(map('two'))
    await env.settled()
    expect(counts).toEqual([1, 2])
    isFailing = true
    await env.client.delete(ConfigMap, 'one')
    await env.settled()
    isFailing = false
    await env.client.delete(ConfigMap, 'two')
    await env.settled()
    await env.advance('10m')
    expect(counts.at(-1)).toBe(0)
  })

  test('controller.Watch at run time: a kind that cannot be watched fails the reconcile with the fix', async () => {
    const operator = defineOperator({
      name: 'teams',
      controllers: [defineController(Team, { reconcile: async (_, { watch }) => void (await watch(Secret, 'x')) })],
    })
    await using env = await startTestEnv(operator, { time: 'virtual' })
    await env.client.create(team('a', {}))
    await expect(env.advance('1m')).rejects.toThrow(/may not (list|watch) 'secrets'.*add \{/)
  })
})

describe('manager.remove()', () => {
  test('adding a controller at run time: a controller can be removed and added again', async () => {
    await using env = await startTestEnv(defineOperator({ name: 'teams', kinds: [Team] }), { rights: 'all' })
    const { manager } = env
    const seen: string[] = []
    const controllerOf = (version: string) =>
      defineController(Team, {
        name: 'teams',
        reconcile: ({ metadata }) => void seen.push(`${version} ${metadata.name}`),
      })
    const first = controllerOf('first')
    manager!.add(first)
    await env.client.create(team('a', {}))
    await env.settled()
    expect(seen).toEqual(['first a'])
    await manager!.remove(first)
    expect(manager!.runners).toEqual([])
    expect([...manager!.cluster.cache.health.keys()]).toEqual([])
    await env.client.create(team('b', {}))
    await env.settled()
    manager!.add(controllerOf('second'))
    await env.settled()
    expect(seen.sort()).toEqual(['first a', 'second a', 'second b'])
    // A part that the manager does not have.
    await manager!.remove({ name: 'none', run: () => Promise.resolve() })
  })
})
