// Uses real files, a real plugin and a real socket, which the unit tests replace.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isForbidden, isUnauthorized } from '@kubewright/api'
import { Namespace, Pod } from '@kubewright/k8s'
import { assembleServer, type Listener } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ConnectOptions, connect } from './connect.ts'
import { listenForTest, testIdentity } from './testdata/test-server.ts'

let folder: string
let listener: Listener
const cleanups: (() => unknown)[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubewright-client-'))
  const store = new MemoryStore()
  const tokens = ['admin', 'next'].map((token) => ({ token, user: { name: 'ada', groups: ['system:masters'] } }))
  const server = await assembleServer({ store, access: { tokens } })
  listener = await listenForTest(server.handler)
  cleanups.push(
    () => rm(folder, { recursive: true }),
    () => store[Symbol.asyncDispose](),
    () => server[Symbol.asyncDispose](),
    () => listener[Symbol.asyncDispose](),
  )
})
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup()
})

/** Writes a kubeconfig and reads the namespace `default` with it. */
async function read(name: string, user: object, options: ConnectOptions = {}): Promise<string> {
  const kubeconfig = join(folder, name)
  const config = {
    'current-context': 'c',
    clusters: [
      {
        name: 'c',
        cluster: {
          server: `https://127.0.0.1:${listener.port}`,
          'certificate-authority-data': Buffer.from(testIdentity().ca.cert).toString('base64'),
        },
      },
    ],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  }
  await writeFile(kubeconfig, JSON.stringify(config))
  const client = await connect({ kubeconfig, ...options })
  try {
    return (await client.get(Namespace, 'default')).metadata.name
  } finally {
    await client[Symbol.asyncDispose]()
  }
}

describe('connect()', () => {
  test('authenticates with a client certificate from files', async () => {
    const { admin } = testIdentity()
    await writeFile(join(folder, 'admin.crt'), admin.cert)
    await writeFile(join(folder, 'admin.key'), admin.key)
    expect(await read('files', { 'client-certificate': 'admin.crt', 'client-key': 'admin.key' })).toBe('default')
  })

  test('authenticates with a token and reports an invalid one', async () => {
    expect(await read('token', { token: 'admin' })).toBe('default')
    await expect(read('wrong', { token: 'wrong' })).rejects.toSatisfy(isUnauthorized)
  })

  test('runs an exec plugin, and again when the server rejects its credentials', async () => {
    const log = join(folder, 'runs')
    // The first run returns a revoked token.
    const script = `
      const fs = require('node:fs')
      const first = !fs.existsSync(${JSON.stringify(log)})
      fs.appendFileSync(${JSON.stringify(log)}, '.')
      const { apiVersion } = JSON.parse(process.env.KUBERNETES_EXEC_INFO)
      console.log(JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token: first ? 'revoked' : process.env.TOKEN } }))`
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: process.execPath,
      args: ['-e', script],
      env: [{ name: 'TOKEN', value: 'next' }],
      interactiveMode: 'IfAvailable',
    }
    expect(await read('exec', { exec })).toBe('default')
  })

  test('impersonates another user', async () => {
    const impersonate = { user: 'nobody', groups: ['system:authenticated'] }
    await expect(read('as', { token: 'admin' }, { impersonate })).rejects.toSatisfy(isForbidden)
  })

  test('uses the namespace of the context by default', async () => {
    const config = { source: 'test', server: `https://127.0.0.1:${listener.port}`, namespace: 'mine' }
    const client = await connect({ config: { ...config, tls: async () => ({ insecure: true }) } })
    await expect(client.list(Pod)).rejects.toThrow('in the namespace "mine"')
    await client[Symbol.asyncDispose]()
  })
})
