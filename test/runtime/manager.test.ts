// Managers with real caches, real clients and the embedded server: leader election, hand-over and sharding.
import { memoryLogger, seededRandom, systemClock, VirtualClock, withDeadline } from '@kubewright/base'
import { type ApiClient, bearerToken, createClient, inProcessTransport, type Transport } from '@kubewright/client'
import { ConfigMap, Lease } from '@kubewright/k8s'
import { createCluster, createManager, defineController, defineOperator, type Operator } from '@kubewright/runtime'
import { assembleServer } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { afterEach, beforeEach, expect, test } from 'vitest'

const namespace = 'default'
let transport: Transport
let api: ApiClient
let end: () => Promise<void>

async function startServer() {
  const store = new MemoryStore()
  const access = { tokens: [{ token: 'admin', user: { name: 'admin', groups: ['system:masters'] } }] }
  const server = await assembleServer({ store, access })
  const way = inProcessTransport({ handler: server.handler })
  const stop = async (): Promise<void> => {
    await way[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  }
  return { way, client: createClient({ transport: way, credentials: bearerToken('admin') }), stop }
}

beforeEach(async () => {
  const server = await startServer()
  transport = server.way
  api = server.client
  end = server.stop
})
afterEach(() => end())

/** Several managers of one operator on one virtual clock. */
class Replicas {
  readonly clock = new VirtualClock()
  readonly log = memoryLogger(0)
  #count = 0

  start(operator: (identity: string) => Operator) {
    const identity = `replica-${++this.#count}`
    const { clock, log } = this
    const client = createClient({ transport, credentials: bearerToken('admin'), clock })
    const random = seededRandom(this.#count)
    const manager = createManager({ operator: operator(identity), client, clock, random, log, identity })
    const stop = new AbortController()
    const ended = manager.start({ signal: stop.signal })
    ended.catch(() => undefined)
    return { manager, ended, stop: () => stop.abort() }
  }

  /** Advances the clock until the condition holds: in small steps, because the server responds in real time. */
  until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    return withDeadline(systemClock, '30s', what, async (signal) => {
      while (!(await holds()) && !signal.aborted) await this.clock.advance('20ms')
    })
  }

  /** Advances the clock until a promise is settled. */
  async during<T>(what: string, promise: Promise<T>): Promise<T> {
    let settled = false
    const settle = (): void => {
      settled = true
    }
    promise.then(settle, settle)
    await this.until(what, () => settled)
    return promise
  }
}

/** Writes its name to each ConfigMap with the label `sign`. */
const signer = (identity: string) =>
  defineController(ConfigMap, {
    async reconcile(config, { client }) {
      const { name, labels, annotations } = config.metadata
      if (labels?.['sign'] !== 'yes' || annotations?.['round'] === labels['round']) return
      const signed = { signedBy: identity, round: labels['round'] ?? '' }
      await client.patch(ConfigMap, { name, namespace }, { metadata: { annotations: signed } })
    },
  })

const names = Array.from({ length: 12 }, (_, index) => `config-${index}`)

async function ask(round: string, client = api): Promise<void> {
  for (const name of names) {
    const labels = { sign: 'yes', round }
    await client.apply(ConfigMap({ metadata: { name, namespace, labels } }), { fieldManager: 'test', force: true })
  }
}

async function signatures(round: string, client = api): Promise<string[]> {
  const configs = await client.list(ConfigMap, { namespace, labels: { sign: 'yes' } })
  return configs.flatMap(({ metadata }) =>
    metadata.annotations?.['round'] === round ? [metadata.annotations['signedBy'] ?? ''] : [],
  )
}

test('createManager() elects one leader, which releases its Lease when it stops', async () => {
  const replicas = new Replicas()
  const operator = (identity: string) =>
    defineOperator({ name: 'signers', controllers: [signer(identity)], leaderElection: true })
  await ask('1')
  const first = replicas.start(operator)
  await replicas.during('the first leads', first.manager.elected)
  const second = replicas.start(operator)
  await replicas.until('all are signed', async () => (await signatures('1')).length === names.length)
  expect(new Set(await signatures('1'))).toEqual(new Set(['replica-1']))
  expect((await api.get(Lease, { name: 'signers', namespace })).spec).toMatchObject({
    holderIdentity: 'replica-1',
    leaseDurationSeconds: 15,
    leaseTransitions: 0,
  })
  expect(second.manager.isLeader).toBe(false)

  first.stop()
  await replicas.during('the first stops', first.ended)
  await replicas.during('the second leads', second.manager.elected)
  await ask('2')
  await replicas.until('all are signed again', async () => (await signatures('2')).length === names.length)
  expect(new Set(await signatures('2'))).toEqual(new Set(['replica-2']))

  second.stop()
  await replicas.during('the second stops', second.ended)
  expect((await api.get(Lease, { name: 'signers', namespace })).spec).toMatchObject({
    holderIdentity: '',
    leaseDurationSeconds: 1,
    leaseTransitions: 1,
  })
  expect(replicas.log.records.filter((record) => 'error' in record)).toEqual([])
})

test('createManager() shares the keys, and the remaining replicas take over from one that stops', async () => {
  const replicas = new Replicas()
  const operator = (identity: string) =>
    defineOperator({ name: 'signers', controllers: [signer(identity)], sharding: true })
  const all = [1, 2, 3].map(() => replicas.start(operator))
  const agreed = (count: number) => () =>
    all.every(({ manager }) => {
      const { phase, sharding } = manager.describe()
      return phase === 'stopped' || (sharding?.joined === true && sharding.members.length === count)
    })
  await replicas.until('all have joined', agreed(3))
  await replicas.clock.advance('5s')
  await ask('1')
  await replicas.until('all are signed', async () => (await signatures('1')).length === names.length)
  expect(new Set(await signatures('1'))).toEqual(new Set(['replica-1', 'replica-2', 'replica-3']))

  const [, second] = all
  second?.stop()
  await replicas.during('the second stops', second?.ended ?? Promise.reject(new Error('missing')))
  await replicas.until('the others know', agreed(2))
  await ask('2')
  await replicas.until('all are signed again', async () => (await signatures('2')).length === names.length)
  expect(new Set(await signatures('2'))).toEqual(new Set(['replica-1', 'replica-3']))

  for (const { stop } of all) stop()
  await replicas.during('all stop', Promise.all(all.map(({ ended }) => ended)))
  expect(await api.list(Lease, { namespace })).toEqual([])
})

test('Manager.clusters.engage() runs controllers on a second server until disengage()', async () => {
  const replicas = new Replicas()
  const other = await startServer()
  const operator = (identity: string) => defineOperator({ name: 'signers', controllers: [signer(identity)] })
  const { manager, ended, stop } = replicas.start(operator)
  await replicas.during('the start', manager.elected)
  const { clock, log } = replicas
  const west = createCluster({ name: 'west', api: other.client, clock, random: seededRandom(9), log })
  await ask('1', other.client)
  await replicas.during('west is engaged', manager.clusters.engage(west))
  await replicas.until('all are signed', async () => (await signatures('1', other.client)).length === names.length)
  expect(await signatures('1')).toEqual([])
  expect(manager.runners.map(({ name }) => name)).toEqual(['configmap', 'configmap@west'])

  await replicas.during('west is disengaged', manager.clusters.disengage('west'))
  expect([...west.cache.health]).toEqual([])
  await ask('2', other.client)
  await ask('2')
  await replicas.until('all of the main one are signed', async () => (await signatures('2')).length === names.length)
  expect(await signatures('2', other.client)).toEqual([])

  stop()
  await replicas.during('the stop', ended)
  await west[Symbol.asyncDispose]()
  await other.stop()
})
