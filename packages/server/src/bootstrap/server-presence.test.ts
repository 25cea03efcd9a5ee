import { seededRandom, VirtualClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { type AssembledServer, assembleServer } from '../assemble-server.ts'
import { SharedStore } from '../testdata/shared-store.ts'

const token = 'admin'
const access = { tokens: [{ token, user: { name: 'admin', groups: ['system:masters'] } }] }

// biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every shape
async function get(server: AssembledServer, path: string): Promise<any> {
  const { body } = await server.handler({
    method: 'GET',
    path,
    query: new URLSearchParams(),
    headers: { authorization: `Bearer ${token}` },
    body: async () => Buffer.alloc(0),
    signal: new AbortController().signal,
    peer: { address: '127.0.0.1' },
  })
  if (typeof body === 'function') throw new Error('unexpected stream')
  return JSON.parse(Buffer.from(body ?? []).toString())
}

interface NamedObject {
  readonly metadata: { readonly name: string }
}

const namesOf = (list: { readonly items: readonly NamedObject[] }): string[] =>
  list.items.map(({ metadata }) => metadata.name)
const identityLeases = async (server: AssembledServer): Promise<string[]> =>
  namesOf(await get(server, '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases'))
const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices'

/** The addresses of the service, as its Endpoints and its EndpointSlices list them. */
async function published(server: AssembledServer): Promise<string[]> {
  const { subsets = [] } = await get(server, '/api/v1/namespaces/default/endpoints/kubernetes')
  type Subset = { readonly addresses: readonly { readonly ip: string }[]; readonly ports: readonly { port: number }[] }
  type Slice = { readonly endpoints: readonly { addresses: string[] }[]; readonly ports: readonly { port: number }[] }
  const listed = (subsets as Subset[]).flatMap(({ addresses, ports }) =>
    addresses.map(({ ip }) => `${ip}:${ports[0]!.port}`),
  )
  const sliced = ((await get(server, slices)).items as Slice[]).flatMap(({ endpoints, ports }) =>
    endpoints.map(({ addresses }) => `${addresses[0]}:${ports[0]!.port}`),
  )
  expect(sliced.sort()).toEqual(listed.sort())
  return listed
}

/** Two servers on one store with one virtual clock. */
async function twoServers() {
  const store = new SharedStore()
  const clock = new VirtualClock({ start: Date.UTC(2026, 0, 2) })
  const start = (seed: string): Promise<AssembledServer> =>
    assembleServer({ store, clock, access, random: seededRandom(seed) })
  const servers = [await start('one'), await start('two')] as const
  return {
    clock,
    servers,
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
}

describe('announce()', () => {
  test('creates an identity Lease with the labels of kube-apiserver and renews it', async () => {
    await using world = await twoServers()
    const [one] = world.servers
    await using _presence = await one.announce({ hostname: 'host-a', port: 6443 })
    const [name] = await identityLeases(one)
    expect(name).toMatch(/^apiserver-[a-z2-7]{26}$/)
    const path = `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${name}`
    const lease = await get(one, path)
    expect(lease.metadata.labels).toEqual({
      'apiserver.kubernetes.io/identity': 'kube-apiserver',
      'kubernetes.io/hostname': 'host-a',
    })
    expect(lease.spec).toMatchObject({
      holderIdentity: expect.stringMatching(new RegExp(`^${name}_`)),
      leaseDurationSeconds: 3600,
      renewTime: '2026-01-02T00:00:00.000000Z',
    })
    await world.clock.advance('10s')
    await expect.poll(async () => (await get(one, path)).spec.renewTime).toBe('2026-01-02T00:00:10.000000Z')
  })

  test('lists every live server in the endpoints and drops one that is withdrawn', async () => {
    await using world = await twoServers()
    const [one, two] = world.servers
    await using _first = await one.announce({ hostname: 'a', port: 6443, address: '192.0.2.1' })
    const second = await two.announce({ hostname: 'b', port: 6443, address: '192.0.2.2' })
    expect(await published(one)).toEqual(['192.0.2.1:6443', '192.0.2.2:6443'])
    expect(await identityLeases(one)).toHaveLength(2)
    await second[Symbol.asyncDispose]()
    expect(await published(one)).toEqual(['192.0.2.1:6443'])
    expect(await identityLeases(one)).toHaveLength(1)
  })

  test('drops a server that died from the endpoints after 15 seconds, and its Lease after an hour', async () => {
    await using world = await twoServers()
    const [one, two] = world.servers
    // A server that dies neither renews nor withdraws.
    const store = two.parts.registry.store
    await using _first = await one.announce({ hostname: 'a', port: 6443, address: '192.0.2.1' })
    await store.put('/servers/apiserver-dead', Buffer.from('{"address":"192.0.2.9","port":6443}'), 0)
    await world.clock.advance('10s')
    await expect.poll(() => published(one)).toEqual(['192.0.2.1:6443', '192.0.2.9:6443'])
    await world.clock.advance('10s')
    await world.clock.advance('10s')
    await expect.poll(() => published(one)).toEqual(['192.0.2.1:6443'])
    const labels = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' }
    const expired = { renewTime: '2026-01-01T22:59:00.000000Z', leaseDurationSeconds: 3600, holderIdentity: 'x' }
    await two.parts.writer.ensure('leases', {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'apiserver-old', namespace: 'kube-system', labels },
      spec: expired,
    })
    await world.clock.advance('10s')
    await expect.poll(() => identityLeases(one)).not.toContain('apiserver-old')
  })

  test('has a slice for each port of servers on one machine', async () => {
    await using world = await twoServers()
    const [one, two] = world.servers
    await using _first = await one.announce({ hostname: 'a', port: 6443, address: '192.0.2.1' })
    const second = await two.announce({ hostname: 'a', port: 6444, address: '192.0.2.1' })
    expect(await published(one)).toEqual(['192.0.2.1:6443', '192.0.2.1:6444'])
    expect(namesOf(await get(one, slices))).toEqual(['kubernetes', 'kubernetes-6444'])
    expect(await identityLeases(one)).toHaveLength(2)
    await second[Symbol.asyncDispose]()
    expect(namesOf(await get(one, slices))).toEqual(['kubernetes'])
  })
})
