// Instances are processes on this machine that run server.ts, with sockets and files.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemProcessHost } from '@kubewright/controllers'
import { Pod } from 'kubewright/k8s'
import { isTrue, startTestEnv, type TestEnv } from 'kubewright/testing'
import { expect, test } from 'vitest'
import { freePorts } from '../../free-ports.ts'
import { httpDatabase, post } from './http-database.ts'
import { sqlOperator } from './operator.ts'
import { localSites } from './site.ts'
import { SqlDatabase } from './sql-database.ts'

const { signal } = new AbortController()

const redundant = (env: TestEnv) =>
  env.until(SqlDatabase, 'real', (db) => isTrue('Redundant')(db) && db.status?.topology?.inSync.length === 2, {
    timeout: '2m',
  })

test('sqlOperator replicates between real processes and fails over', { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubewright-sql-'))
  try {
    const sites = localSites({ folder, firstPort: await freePorts(8) })
    const operator = sqlOperator({ database: httpDatabase(), sites })
    await using env = await startTestEnv(operator, { nodes: { nodes: 1, processes: systemProcessHost() } })
    const urlOf = (name: string): string =>
      sites({ name: 'real', namespace: 'default' }, Number(name.slice('real-'.length))).url
    const write = (name: string, text: string) => post(urlOf(name), 'write', { text }, { signal })
    const read = async (name: string): Promise<string[]> => {
      const { rows } = (await post(urlOf(name), 'read', {}, { signal })) as { rows: { text: string }[] }
      return rows.map(({ text }) => text)
    }

    await env.client.create(SqlDatabase({ metadata: { name: 'real' }, spec: { instances: 2 } }))
    await redundant(env)
    await write('real-0', 'one')
    expect(await read('real-1')).toEqual(['one'])
    await expect(write('real-1', 'nowhere')).rejects.toThrow('not the primary')

    await env.client.delete(Pod, 'real-0', { gracePeriodSeconds: 0 })
    await env.until(SqlDatabase, 'real', ({ status }) => status?.topology?.epoch === 2, { timeout: '1m' })
    const { status } = await redundant(env)
    expect(status?.topology).toMatchObject({ primary: 'real-1', inSync: ['real-1', 'real-0'] })
    await write('real-1', 'two')
    expect(await read('real-0')).toEqual(['one', 'two'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
