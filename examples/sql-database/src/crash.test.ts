// The operator crashes at each of its calls, to the cluster or to a database instance, and another operator takes over.
import { Pod, Service } from 'kubewright/k8s'
import { isTrue, type TestEnv } from 'kubewright/testing'
import type { CrashingProcess, CrashPlan } from '../../../test/crash/crashing-process.ts'
import { externalCall, runWithCrashes } from '../../../test/crash/run-with-crashes.ts'
import { startBareEnv, testCrashAtEveryCall } from '../../../test/crash/test-crash-at-every-call.ts'
import type { Database } from './database.ts'
import { sqlOperator } from './operator.ts'
import { localSites } from './site.ts'
import { SqlDatabase } from './sql-database.ts'
import { FakeDatabases } from './testdata/fake-databases.ts'

const sites = localSites({ folder: '/fake', firstPort: 1000 })
const urlOf = (name: string): string => {
  return sites({ name: 'db', namespace: 'default' }, Number(name.slice('db-'.length))).url
}

/** The instance calls of an operator that may crash at any call. */
function crashingDatabase(database: Database, process: CrashingProcess): Database {
  return {
    report: (url, call) => externalCall(process, 'sql report', call.signal, () => database.report(url, call)),
    snapshot: (url, epoch, call) =>
      externalCall(process, 'sql snapshot', call.signal, () => database.snapshot(url, epoch, call)),
    promote: (url, promotion, call) =>
      externalCall(process, 'sql! promote', call.signal, () => database.promote(url, promotion, call)),
    restore: (url, restoration, call) =>
      externalCall(process, 'sql! restore', call.signal, () => database.restore(url, restoration, call)),
  }
}

async function runScenario(planOf: (index: number) => CrashPlan | undefined) {
  const fake = new FakeDatabases()
  await using env = await startBareEnv(SqlDatabase, fake.host)
  const operator = (process: CrashingProcess) =>
    sqlOperator({ database: crashingDatabase(fake.database, process), sites })
  const { calls } = await runWithCrashes(env, operator, planOf, async () => {
    await env.client.create(SqlDatabase({ metadata: { name: 'db' }, spec: { instances: 1 } }))
    await redundant(env, 1)
    await fake.writeEverywhere('first')
    await resize(env, 3)
    await redundant(env, 3)
    await fake.writeEverywhere('second')
    // The primary and its data are lost.
    await env.client.delete(Pod, 'db-0')
    await env.until(SqlDatabase, 'db', ({ status }) => (status?.topology?.epoch ?? 0) > 1)
    await fake.writeEverywhere('meanwhile')
    await redundant(env, 3)
    await fake.writeEverywhere('third')
    await resize(env, 2)
    await redundant(env, 2)
    await fake.writeEverywhere('fourth')
  })
  const { status } = await env.client.get(SqlDatabase, 'db')
  const { epoch, inSync = [], primary = '' } = status?.topology ?? {}
  const texts = fake.confirmed.map(({ text }) => text)
  const isComplete = (name: string): boolean => {
    const rows =
      fake
        .at(urlOf(name))
        ?.read()
        .map(({ text }) => text) ?? []
    return String(rows.filter((row) => texts.includes(row))) === String(texts)
  }
  const end = {
    epoch,
    inSync: inSync.length,
    areComplete: inSync.every(isComplete) && inSync.includes(primary),
    confirmed: ['first', 'second', 'third', 'fourth'].filter((word) => texts.some((text) => text.startsWith(word))),
    late: fake.lateConfirmations(),
    pods: (await env.client.list(Pod)).length,
    services: (await env.client.list(Service, { labels: { 'sql.example.com/database': 'db' } })).length,
  }
  return { end, calls }
}

const redundant = (env: TestEnv, instances: number) =>
  env.until(SqlDatabase, 'db', (db) => isTrue('Redundant')(db) && db.status?.topology?.inSync.length === instances)
const resize = (env: TestEnv, instances: number) => env.client.patch(SqlDatabase, 'db', { spec: { instances } })

const expectedEnd = {
  epoch: 2,
  inSync: 2,
  areComplete: true,
  confirmed: ['first', 'second', 'third', 'fourth'],
  late: [],
  pods: 2,
  services: 3,
}

testCrashAtEveryCall('SqlDatabase', 'sql', expectedEnd, runScenario)
