import { Event, Pod, Service } from 'kubewright/k8s'
import { isFalse, isTrue, startTestEnv, type TestEnv } from 'kubewright/testing'
import { expect, test } from 'vitest'
import type { Database } from './database.ts'
import { sqlOperator } from './operator.ts'
import { localSites } from './site.ts'
import { SqlDatabase } from './sql-database.ts'
import { FakeDatabases } from './testdata/fake-databases.ts'

const sites = localSites({ folder: '/fake', firstPort: 1000 })
const url = (ordinal: number): string => sites({ name: 'db', namespace: 'default' }, ordinal).url

interface Stage extends TestEnv {
  readonly fake: FakeDatabases
}

async function startWith(instances: number): Promise<Stage> {
  const fake = new FakeDatabases()
  const operator = sqlOperator({ database: fake.database, sites })
  const env = await startTestEnv(operator, { time: 'virtual', nodes: { nodes: 1, processes: fake.host } })
  const stage = Object.assign(env, { fake })
  await env.client.create(SqlDatabase({ metadata: { name: 'db' }, spec: { instances } }))
  await redundant(stage, instances)
  return stage
}

const redundant = (env: TestEnv, instances: number) =>
  env.until(SqlDatabase, 'db', (db) => isTrue('Redundant')(db) && db.status?.topology?.inSync.length === instances)
const textsAt = (env: Stage, ordinal: number) =>
  env.fake
    .at(url(ordinal))
    ?.read()
    .map(({ text }) => text)
const roles = async (env: TestEnv) => {
  const { status } = await env.client.get(SqlDatabase, 'db')
  return status?.instances.map(({ lag, name, role }) => `${name} ${role} ${lag}`)
}

test('SqlDatabase starts with one instance; replicas get a snapshot, catch up, then become in-sync', async () => {
  await using env = await startWith(1)
  await env.fake.writeEverywhere('first')
  await env.client.subresource(SqlDatabase, 'scale').patch('db', { spec: { replicas: 3 } })
  await redundant(env, 3)
  await env.fake.writeEverywhere('second')
  expect(env.fake.confirmed.map(({ text }) => text)).toEqual([`first at ${url(0)}`, `second at ${url(0)}`])
  for (const ordinal of [0, 1, 2]) expect(textsAt(env, ordinal)).toEqual(env.fake.confirmed.map(({ text }) => text))
  expect(await roles(env)).toEqual(['db-0 Primary 0', 'db-1 Replica 0', 'db-2 Replica 0'])
  const { status } = await env.client.get(SqlDatabase, 'db')
  expect(status?.topology).toMatchObject({ epoch: 1, primary: 'db-0', inSync: ['db-0', 'db-1', 'db-2'] })
  const { spec } = await env.client.get(Service, 'db-primary')
  expect(spec?.selector).toEqual({ 'sql.example.com/database': 'db', 'sql.example.com/ordinal': '0' })
  const events = await env.client.list(Event, {
    fields: { 'involvedObject.kind': 'SqlDatabase', reason: 'ReplicaFed' },
  })
  expect(events.map(({ message }) => message).sort()).toEqual([
    'Restored db-1 from a snapshot of db-0 with 1 rows',
    'Restored db-2 from a snapshot of db-0 with 1 rows',
  ])
})

test('SqlDatabase fails over to the replica with the most rows and reintegrates the old primary as a replica', async () => {
  await using env = await startWith(3)
  await env.fake.writeEverywhere('confirmed')
  // db-1 lacks a row that db-2 has. The primary cannot confirm it and is cut off.
  env.fake.isolated.add(url(1))
  await env.fake.writeEverywhere('unconfirmed')
  env.fake.isolated.add(url(0)).delete(url(1))
  env.fake.hidden.add(url(0))
  await env.until(SqlDatabase, 'db', ({ status }) => status?.topology?.epoch === 2)
  const { status } = await env.client.get(SqlDatabase, 'db')
  expect(status?.topology).toMatchObject({ primary: 'db-2' })
  await env.until(SqlDatabase, 'db', isTrue('Available'))

  const before = env.fake.confirmed.length
  await env.fake.writeEverywhere('after')
  expect(env.fake.confirmed.slice(before)).toEqual([{ text: `after at ${url(2)}`, epoch: 2 }])

  env.fake.isolated.clear()
  env.fake.hidden.clear()
  await redundant(env, 3)
  await env.settled()
  for (const ordinal of [0, 1, 2]) {
    expect(textsAt(env, ordinal)).toEqual([`confirmed at ${url(0)}`, `unconfirmed at ${url(0)}`, `after at ${url(2)}`])
  }
  expect((await roles(env))?.filter((role) => role.includes('Primary'))).toEqual(['db-2 Primary 0'])
  expect((await env.client.get(Service, 'db-primary')).spec?.selector).toMatchObject({ 'sql.example.com/ordinal': '2' })
})

test('SqlDatabase fails over immediately when the primary is deleted with its data', async () => {
  await using env = await startWith(3)
  await env.fake.writeEverywhere('kept')
  await env.client.delete(Pod, 'db-0')
  await env.until(SqlDatabase, 'db', ({ status }) => status?.topology?.epoch === 2, { timeout: '5s' })
  await redundant(env, 3)
  for (const ordinal of [0, 1, 2]) expect(textsAt(env, ordinal)).toEqual([`kept at ${url(0)}`])
  const events = await env.client.list(Event, {
    fields: { 'involvedObject.kind': 'SqlDatabase', reason: 'FailedOver' },
  })
  expect(events.map(({ message }) => message)).toEqual(['db-0 is lost and db-1 has the most rows'])
})

test('SqlDatabase chooses another replica, even a silent one, when the chosen one is lost before it takes over', async () => {
  const fake = new FakeDatabases()
  const tooLate = new Set<string>()
  const database: Database = {
    ...fake.database,
    async promote(at, promotion, call) {
      if (promotion.epoch > 1 && !tooLate.has(at)) {
        // It is recorded as the next primary but never receives the promotion.
        tooLate.add(at)
        await env.client.delete(Pod, 'db-1', { gracePeriodSeconds: 0 })
        fake.hidden.delete(url(2))
        throw new Error(`connect ECONNREFUSED ${at}`)
      }
      return fake.database.promote(at, promotion, call)
    },
  }
  const nodes = { nodes: 1, processes: fake.host }
  await using env = await startTestEnv(sqlOperator({ database, sites }), { time: 'virtual', nodes })
  await env.client.create(SqlDatabase({ metadata: { name: 'db' }, spec: { instances: 3 } }))
  await redundant(env, 3)
  await fake.writeEverywhere('kept')
  tooLate.add(url(2))
  fake.hidden.add(url(2))
  await env.client.delete(Pod, 'db-0', { gracePeriodSeconds: 0 })
  await env.until(SqlDatabase, 'db', ({ status }) => status?.topology?.epoch === 3)
  const { status } = await redundant(env, 3)
  expect([...tooLate]).toEqual([url(2), url(1)])
  expect(status?.topology).toMatchObject({ epoch: 3, primary: 'db-2' })
  await fake.writeEverywhere('after')
  expect(fake.lateConfirmations()).toEqual([])
  for (const ordinal of [0, 1, 2]) {
    const rows = fake.at(url(ordinal))?.read() ?? []
    expect(rows.map(({ text }) => text)).toEqual([`kept at ${url(0)}`, `after at ${url(2)}`])
  }
})

test('SqlDatabase keeps a primary that restarts in time', async () => {
  await using env = await startWith(2)
  await env.fake.writeEverywhere('kept')
  env.fake.crash(url(0))
  await env.advance('20s')
  await env.fake.writeEverywhere('more')
  expect(env.fake.confirmed).toHaveLength(2)
  expect((await env.client.get(SqlDatabase, 'db')).status?.topology).toMatchObject({ epoch: 1, primary: 'db-0' })
})

test('SqlDatabase confirms nothing while a replica is silent and expels it after the timeout', async () => {
  await using env = await startWith(2)
  env.fake.isolated.add(url(1))
  env.fake.hidden.add(url(1))
  await env.fake.writeEverywhere('too early')
  expect(env.fake.confirmed).toEqual([])
  // Both last only until a new replica has caught up.
  await Promise.all([
    env.until(SqlDatabase, 'db', ({ status }) => status?.topology?.inSync.length === 1),
    env.until(SqlDatabase, 'db', isFalse('Redundant')),
  ])
  await env.settled()
  await env.fake.writeEverywhere('alone')
  expect(env.fake.confirmed).toHaveLength(1)
})

test('SqlDatabase shrinks without stopping its primary and leaves no objects behind', async () => {
  await using env = await startWith(3)
  await env.client.patch(SqlDatabase, 'db', { spec: { instances: 1 } })
  await redundant(env, 1)
  await env.advance('10s')
  expect((await env.client.list(Pod)).map(({ metadata }) => metadata.name)).toEqual(['db-0'])
  const services = await env.client.list(Service, { labels: { 'sql.example.com/database': 'db' } })
  expect(services.map(({ metadata }) => metadata.name).sort()).toEqual(['db-0', 'db-primary'])
  await env.fake.writeEverywhere('alone')
  expect(env.fake.confirmed).toHaveLength(1)
})

test('SqlDatabase reports the loss of all data and does not start an empty database', async () => {
  await using env = await startWith(1)
  await env.fake.writeEverywhere('gone')
  await env.client.delete(Pod, 'db-0')
  await env.until(SqlDatabase, 'db', ({ status }) => status?.conditions[0]?.reason === 'NoCandidate')
  await env.advance('10m')
  expect((await env.client.get(SqlDatabase, 'db')).status?.topology).toMatchObject({ epoch: 1, primary: 'db-0' })
  expect(await env.client.list(Pod)).toEqual([])
})
