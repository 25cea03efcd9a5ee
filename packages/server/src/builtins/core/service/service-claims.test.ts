import { memoryLogger, VirtualClock } from '@kubewright/base'
import { StorageError, type WriteResult } from '@kubewright/storage'
import { describe, expect, test } from 'vitest'
import { startCoreServer } from '../../../testdata/core-server.ts'
import type { PlainAnswer, PlainServer } from '../../../testdata/plain-server.ts'
import { SharedStore } from '../../../testdata/shared-store.ts'
import { type Claim, ServiceClaims } from './service-claims.ts'

class LossyStore extends SharedStore {
  /** Makes the next write of a service take place although it seems to fail. */
  loseResponse = false

  override async put(key: string, value: Uint8Array, expected: number): Promise<WriteResult> {
    const result = await super.put(key, value, expected)
    if (!this.loseResponse || !key.startsWith('/registry/services/')) return result
    this.loseResponse = false
    throw new StorageError('KW_STORAGE_UNCERTAIN', 'lost')
  }
}

const path = '/api/v1/namespaces/a/services'
const create = (server: PlainServer, name: string, spec: object = {}): Promise<PlainAnswer> =>
  server.send(`POST ${path}`, { body: { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } } })

const claimsIn = async (store: SharedStore): Promise<string[]> =>
  (await store.list({ prefix: '/allocations/' })).entries.map(({ key }) => key.slice('/allocations/services/'.length))

describe('Services of two servers on one store', () => {
  test('never have the same cluster IP or node port', async () => {
    await using store = new SharedStore()
    await using one = await startCoreServer(store, 1)
    await using two = await startCoreServer(store, 2)
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => create(i % 2 === 0 ? one : two, `s${i}`, { type: 'NodePort' })),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
    expect(new Set(answers.map(({ body }) => body.spec.clusterIP)).size).toBe(200)
    expect(new Set(answers.map(({ body }) => body.spec.ports[0].nodePort)).size).toBe(200)
  })

  test('get at most one of the same requested address', async () => {
    await using store = new SharedStore()
    await using one = await startCoreServer(store, 1)
    await using two = await startCoreServer(store, 2)
    const spec = { clusterIP: '10.0.0.7' }
    const answers = await Promise.all([create(one, 'a', spec), create(two, 'b', spec)])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422])
    const { body } = answers.find(({ status }) => status === 422)!
    expect(body.message).toContain('failed to allocate IP 10.0.0.7: provided IP is already allocated')
  })

  test('can have an address that a service of the other server has released', async () => {
    await using store = new SharedStore()
    await using one = await startCoreServer(store, 1)
    await using two = await startCoreServer(store, 2)
    const { clusterIP, ports } = (await create(one, 'a', { type: 'NodePort' })).body.spec
    // The second server now knows that the address is taken.
    expect((await create(two, 'b', { clusterIP })).status).toBe(422)
    await one.send(`DELETE ${path}/a`)
    expect(await claimsIn(store)).toEqual([])
    expect((await create(two, 'b', { clusterIP, type: 'NodePort', ports })).status).toBe(201)
    // An update releases the port.
    const headers = { 'content-type': 'application/merge-patch+json' }
    await two.send(`PATCH ${path}/b`, { body: { spec: { type: 'ClusterIP' } }, headers })
    expect(await claimsIn(store)).toEqual([expect.stringMatching(/^ips\//)])
  })

  test('find an address when the other server has released all of them', async () => {
    await using store = new SharedStore()
    await using one = await startCoreServer(store, 1)
    await using two = await startCoreServer(store, 2)
    for (let i = 0; i < 254; i++) expect((await create(one, `s${i}`)).status).toBe(201)
    expect((await create(two, 'more')).body.message).toContain('range is full')
    await one.send(`DELETE ${path}/s100`)
    expect((await create(two, 'more')).status).toBe(201)
  })

  test('keep their address after a write whose response was lost', async () => {
    await using store = new LossyStore()
    await using one = await startCoreServer(store, 1)
    await using two = await startCoreServer(store, 2)
    store.loseResponse = true
    expect((await create(one, 'a', { clusterIP: '10.0.0.7' })).status).toBe(500)
    expect((await two.send(`GET ${path}/a`)).body.spec.clusterIP).toBe('10.0.0.7')
    for (const server of [one, two]) expect((await create(server, 'b', { clusterIP: '10.0.0.7' })).status).toBe(422)
  })

  test('release their address when the write fails', async () => {
    await using store = new SharedStore()
    await using one = await startCoreServer(store, 1)
    expect((await create(one, 'bad', { ports: [{ port: 0 }] })).status).toBe(422)
    expect(await claimsIn(store)).toEqual([])
  })
})

describe('ServiceClaims.repair()', () => {
  const claim = (number: number, owner: string): Claim => ({ kind: 'ips', number, owner })

  test('claims the numbers of stored services', async () => {
    await using store = new SharedStore()
    const claims = new ServiceClaims({ store, clock: new VirtualClock(), log: memoryLogger() })
    await claims.repair(async () => [claim(1, 'a')])
    expect(await claims.take([claim(1, 'b'), claim(2, 'b')])).toEqual([claim(1, 'b')])
    expect(await claims.list()).toEqual([claim(1, 'a')])
  })

  test('deletes a claim without a service, but not before a request could have stored it', async () => {
    await using store = new SharedStore()
    const clock = new VirtualClock()
    const claims = new ServiceClaims({ store, clock, log: memoryLogger() })
    await claims.take([claim(1, 'a'), claim(2, 'b')])
    for (let minute = 0; minute < 3; minute++) {
      await claims.repair(async () => [claim(2, 'b')])
      expect(await claims.list()).toHaveLength(2)
      await clock.advance('1m')
    }
    await claims.repair(async () => [claim(2, 'b')])
    expect(await claims.list()).toEqual([claim(2, 'b')])
  })

  test('reports a number that two services have', async () => {
    await using store = new SharedStore()
    const log = memoryLogger()
    const claims = new ServiceClaims({ store, clock: new VirtualClock(), log })
    await claims.repair(async () => [claim(1, 'a'), claim(1, 'b')])
    expect(log.records.map(({ message }) => message)).toEqual(['Several services have the same address or port'])
  })
})
