import { condition, defineResource, type Infer, keyOf } from '@kubewright/api'
import { ConfigMap, Deployment, Service } from '@kubewright/k8s'
import { type Controller, type CountedCause, defineController, owned, watch } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { expect, test } from 'vitest'
import { hasCondition, startHarness } from './operator-harness.ts'

const Home = defineResource({
  group: 'ajd.example.com',
  version: 'v1',
  kind: 'Home',
  spec: s.object({
    image: s.string(),
    replicas: s.int().default(1),
    rooms: s.array(s.string()).optional(),
    settings: s.string().optional(),
  }),
  status: s.object({ readyReplicas: s.int(), conditions: s.conditions('Ready') }),
})
type Home = Infer<typeof Home>

const labels = (home: Home) => ({ app: home.metadata.name })
const deploymentFor = (home: Home) =>
  Deployment({
    metadata: { name: home.metadata.name },
    spec: {
      replicas: home.spec.replicas,
      selector: { matchLabels: labels(home) },
      template: {
        metadata: { labels: labels(home) },
        spec: { containers: [{ name: 'web', image: home.spec.image, ports: [{ containerPort: 8080 }] }] },
      },
    },
  })
const serviceFor = (home: Home) =>
  Service({
    metadata: { name: home.metadata.name },
    spec: { selector: labels(home), ports: [{ port: 80, targetPort: 8080 }] },
  })

/** The controller of the sketch, with a set of names instead of a DNS service. */
function homeController(dns = new Set<string>(), causes: (readonly CountedCause[])[] = []): Controller {
  return defineController(Home, {
    owns: [Deployment, Service],
    async reconcile(home, { apply, causes: why }) {
      causes.push(why)
      const [deployment] = await Promise.all([apply(deploymentFor(home)), apply(serviceFor(home))])
      dns.add(home.metadata.name)
      const ready = deployment.status?.readyReplicas ?? 0
      const done = ready >= home.spec.replicas
      const text = `${ready}/${home.spec.replicas} ready`
      const conditions = [condition('Ready', done, done ? 'Serving' : 'RollingOut', text)]
      return { status: { readyReplicas: ready, conditions } }
    },
    cleanup(home) {
      dns.delete(home.metadata.name)
    },
  })
}

const create = (name = 'cosy') => Home({ metadata: { name }, spec: { image: 'nginx:1.27', replicas: 2 } })
const setReady = { status: { replicas: 2, readyReplicas: 2 } }

test('a Home rolls out, reports Ready and releases its domain', async () => {
  const dns = new Set<string>()
  await using env = await startHarness({ controllers: [homeController(dns)], kinds: [Home] })
  await env.client.create(create())
  await env.untilObject(Home, 'cosy', hasCondition('Ready', 'False'))
  expect([...dns]).toEqual(['cosy'])
  await env.client.subresource(Deployment, 'status').patch('cosy', setReady)
  const home = await env.untilObject(Home, 'cosy', hasCondition('Ready'))
  expect(home.status?.readyReplicas).toBe(2)
  await env.client.delete(Home, 'cosy')
  await env.untilGone(Home, 'cosy')
  expect([...dns]).toEqual([])
})

test('a settled object causes no write, however often it is reconciled', async () => {
  const causes: (readonly CountedCause[])[] = []
  await using env = await startHarness({ controllers: [homeController(undefined, causes)], kinds: [Home] })
  await env.client.create(create())
  await env.untilObject(Home, 'cosy', hasCondition('Ready', 'False'))
  await env.settle()
  // Finalizer, two children, status.
  expect(env.writes()).toHaveLength(4)
  const before = causes.length
  await env.client.patch(Home, 'cosy', { metadata: { annotations: { touched: 'yes' } } })
  await env.settle()
  expect([causes.length - before, env.writes()]).toEqual([1, []])
  expect(causes.at(-1)).toMatchObject([{ event: 'update', object: 'default/cosy', count: 1 }])
})

test('a cache without managedFields causes one more request per write, and prune still detects own children', async () => {
  const controller = defineController(Home, {
    owns: [ConfigMap],
    prune: true,
    async reconcile(home, { apply }) {
      const rooms = home.spec.rooms ?? []
      for (const room of rooms) await apply(ConfigMap({ metadata: { name: room }, data: { room } }))
      return { status: { readyReplicas: rooms.length, conditions: [condition('Ready', true, 'Furnished')] } }
    },
  })
  await using env = await startHarness({ controllers: [controller], kinds: [Home], cache: { dropManagedFields: true } })
  await env.client.create(Home({ metadata: { name: 'cosy' }, spec: { image: 'a', rooms: ['bath', 'hall'] } }))
  await env.untilObject(Home, 'cosy', hasCondition('Ready'))
  await env.settle()
  env.writes()
  for (const touched of ['1', '2']) {
    await env.client.patch(Home, 'cosy', { metadata: { annotations: { touched } } })
    await env.settle()
  }
  const repeated = env.writes()
  expect(repeated.filter((request) => request.includes('configmaps'))).toEqual([])
  await env.client.patch(Home, 'cosy', { spec: { rooms: ['hall'] } })
  await env.untilGone(ConfigMap, 'bath')
  expect((await env.client.list(ConfigMap)).map(keyOf)).toEqual(['default/hall'])
})

test('a second process of an operator finds everything in order and writes nothing', async () => {
  await using env = await startHarness({ controllers: [homeController()], kinds: [Home] })
  await env.client.create(create())
  await env.untilObject(Home, 'cosy', hasCondition('Ready', 'False'))
  await env.settle()
  env.writes()
  const seen: (readonly CountedCause[])[] = []
  await using _second = env.start(homeController(undefined, seen))
  await env.until(() => seen.length > 0)
  await env.settle()
  expect([seen.length, env.writes()]).toEqual([1, []])
})

test('children that others change or delete are restored, and prune deletes those that are no longer applied', async () => {
  const rooms = defineController(Home, {
    name: 'rooms',
    owns: [ConfigMap],
    prune: true,
    async reconcile(home, { apply }) {
      for (const room of home.spec.rooms ?? []) {
        await apply(ConfigMap({ metadata: { name: `${home.metadata.name}-${room}` }, data: { room } }))
      }
    },
  })
  await using env = await startHarness({ controllers: [rooms], kinds: [Home] })
  const spec = { image: 'a', rooms: ['kitchen', 'bath'] }
  await env.client.create(Home({ metadata: { name: 'cosy' }, spec }))
  const { metadata } = await env.untilObject(ConfigMap, 'cosy-bath', () => true)
  await env.client.patch(ConfigMap, 'cosy-kitchen', { data: { room: 'garage' } })
  await env.untilObject(ConfigMap, 'cosy-kitchen', (map) => map.data?.['room'] === 'kitchen')
  await env.client.delete(ConfigMap, 'cosy-bath')
  await env.untilObject(ConfigMap, 'cosy-bath', (map) => map.metadata.uid !== metadata.uid)
  await env.client.patch(Home, 'cosy', { spec: { rooms: ['kitchen'] } })
  await env.untilGone(ConfigMap, 'cosy-bath')
  expect((await env.client.list(ConfigMap)).map(keyOf)).toEqual(['default/cosy-kitchen'])
})

test('own writes are visible within the reconcile that made them', async () => {
  const seen: unknown[] = []
  const controller = defineController(Home, {
    owns: [ConfigMap],
    async reconcile(home, { apply, client, children }) {
      const name = home.metadata.name
      const before = (await children(ConfigMap)).length
      await apply(ConfigMap({ metadata: { name }, data: { a: '1' } }))
      const applied = await client.find(ConfigMap, { name, namespace: 'default' })
      await client.patch(ConfigMap, { name, namespace: 'default' }, { data: { b: '2' } })
      const patched = await client.get(ConfigMap, { name, namespace: 'default' })
      seen.push(before, (await children(ConfigMap)).length, applied?.data, patched.data)
    },
  })
  await using env = await startHarness({ controllers: [controller], kinds: [Home] })
  await env.client.create(create())
  await env.until(() => seen.length > 0)
  expect(seen.slice(0, 4)).toEqual([0, 1, { a: '1' }, { a: '1', b: '2' }])
})

test('a watch reconciles the objects that its mapping returns, with and without a namespace', async () => {
  const calls: string[] = []
  const controller = defineController(Home, {
    watches: [
      watch(
        ConfigMap,
        async (map, { client }) => {
          const homes = await client.list(Home, { where: { 'spec.settings': map.metadata.name } })
          return homes.map((home) => home.metadata.name)
        },
        { selector: { matchLabels: { settings: 'yes' } } },
      ),
    ],
    async reconcile(home, { client }) {
      const settings = await client.find(ConfigMap, { name: home.spec.settings ?? '-', namespace: 'default' })
      calls.push(`${home.metadata.name} ${settings?.data?.['colour']}`)
    },
  })
  await using env = await startHarness({ controllers: [controller], kinds: [Home] })
  const spec = { image: 'a' }
  await env.client.create(Home({ metadata: { name: 'one' }, spec: { ...spec, settings: 'shared' } }))
  await env.client.create(Home({ metadata: { name: 'two' }, spec }))
  await env.until(() => calls.length === 2)
  calls.length = 0
  const metadata = { name: 'shared', labels: { settings: 'yes' } }
  await env.client.create(ConfigMap({ metadata, data: { colour: 'red' } }))
  await env.until(() => calls.length > 0)
  await env.client.patch(ConfigMap, 'shared', { data: { colour: 'blue' } })
  await env.until(() => calls.includes('one blue'))
  expect(calls).toEqual(['one red', 'one blue'])
})

test('an owned kind that is not installed does not prevent the start', async () => {
  const Garden = defineResource({ group: 'ajd.example.com', version: 'v1', kind: 'Garden', spec: s.object({}) })
  const calls: string[] = []
  const controller = defineController(Home, {
    owns: [owned(Garden, { optional: true })],
    reconcile: (home) => void calls.push(home.metadata.name),
  })
  await using env = await startHarness({ controllers: [controller], kinds: [Home] })
  await env.client.create(create())
  await env.until(() => calls.length > 0)
  expect(env.runners[0]?.problems()).toEqual([])
})
