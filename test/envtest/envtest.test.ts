// The folder of `kubewright envtest use`, started as controller-runtime's envtest starts it.
import { describe, expect, test } from 'vitest'
import { configMap, deployment } from '../up/requests.ts'
import { TemporaryFolder } from '../up/up-process.ts'
import { EnvtestProcesses, useAssets } from './envtest-processes.ts'

const namespaces = '/api/v1/namespaces'
const deployments = '/apis/apps/v1/namespaces/default/deployments'

/** Reads until the condition is met. */
async function until<T>(read: () => Promise<T>, isMet: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read()
    if (isMet(value)) return value
  }
}

describe('the programs of kubewright envtest use', () => {
  test('start with the flags of envtest, serve the release of their folder, and end on SIGTERM', async () => {
    using folder = new TemporaryFolder()
    const assets = await useAssets('1.36', folder.path)
    await using processes = await EnvtestProcesses.start(assets)
    expect(await processes.health()).toEqual([200, 200])
    expect((await processes.send('GET', '/version')).body).toMatchObject({ major: '1', minor: '36' })
    expect((await processes.send('POST', `${namespaces}/default/configmaps`, configMap('a', 'x'))).status).toBe(201)
    expect((await processes.send('GET', `${namespaces}/default/configmaps/a`)).body.data).toEqual({ value: 'x' })
    expect(processes.server.lines).toContain('Ignored flags: --watch-cache')
    // A token of the given key.
    const accounts = `${namespaces}/default/serviceaccounts`
    await processes.send('POST', accounts, { metadata: { name: 'robot' } })
    expect((await processes.send('POST', `${accounts}/robot/token`, {})).body.status.token).toMatch(/^ey/)
    expect(await Promise.all([processes.server.stop(), processes.etcd.stop()])).toEqual([0, 0])
  })

  test('run no controllers by default, so that namespaces stay', async () => {
    using folder = new TemporaryFolder()
    await using processes = await EnvtestProcesses.start(await useAssets('1.35', folder.path))
    await processes.send('POST', namespaces, { metadata: { name: 'a' } })
    expect((await processes.send('DELETE', `${namespaces}/a`)).status).toBe(200)
    expect((await processes.send('GET', `${namespaces}/a`)).body).toMatchObject({
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Terminating' },
    })
    expect(processes.server.lines).toContain('Runs no controllers: see KUBEWRIGHT_CONTROLLERS')
    expect((await processes.send('GET', '/version')).body).toMatchObject({ major: '1', minor: '35' })
  })

  test('run the controllers of KUBEWRIGHT_CONTROLLERS: namespaces vanish, owned objects are collected', async () => {
    using folder = new TemporaryFolder()
    const env = { KUBEWRIGHT_CONTROLLERS: 'gc,namespace,workloads' }
    await using processes = await EnvtestProcesses.start(await useAssets('1.36', folder.path), env)
    const read = (path: string) => () => processes.send('GET', path)
    await processes.send('POST', namespaces, { metadata: { name: 'a' } })
    await processes.send('POST', `${namespaces}/a/configmaps`, configMap('inside', 'x'))
    await processes.send('DELETE', `${namespaces}/a`)
    await until(read(`${namespaces}/a`), ({ status }) => status === 404)
    const { body: web } = await processes.send('POST', deployments, deployment('web', 2))
    const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: web.metadata.uid }
    const owned = { ...configMap('owned', 'x'), metadata: { name: 'owned', ownerReferences: [owner] } }
    await processes.send('POST', `${namespaces}/default/configmaps`, owned)
    await until(read(`${namespaces}/default/pods`), ({ body }) => body.items.length === 2)
    await processes.send('DELETE', `${deployments}/web`)
    await until(read(`${namespaces}/default/configmaps/owned`), ({ status }) => status === 404)
    await until(read(`${namespaces}/default/pods`), ({ body }) => body.items.length === 0)
  })

  test('fail with the reason if a controller is unknown', async () => {
    using folder = new TemporaryFolder()
    const assets = await useAssets('1.36', folder.path)
    await expect(EnvtestProcesses.start(assets, { KUBEWRIGHT_CONTROLLERS: 'garbage' })).rejects.toThrow(
      'controllers: unknown controller "garbage"',
    )
  })
})
