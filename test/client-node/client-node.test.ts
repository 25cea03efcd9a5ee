// @kubernetes/client-node, the official client, against `kubewright up`.
import * as k8s from '@kubernetes/client-node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TemporaryFolder, UpProcess } from '../up/up-process.ts'

let folder: TemporaryFolder
let up: UpProcess
const config = new k8s.KubeConfig()
let core: k8s.CoreV1Api
const namespace = 'default'

beforeAll(async () => {
  folder = new TemporaryFolder()
  up = await UpProcess.start(['--memory', '--controllers', 'none'], folder.path)
  config.loadFromFile(up.kubeconfig)
  core = config.makeApiClient(k8s.CoreV1Api)
})

afterAll(async () => {
  await up[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

/** Collects events. Each call of `push` may resolve a pending `until`. */
function recorder<T>(): { readonly seen: T[]; push(value: T): void; until(count: number): Promise<void> } {
  const seen: T[] = []
  let wake = (): void => undefined
  return {
    seen,
    push(value) {
      seen.push(value)
      wake()
    },
    async until(count) {
      while (seen.length < count) await new Promise<void>((resolve) => (wake = resolve))
    },
  }
}

describe('@kubernetes/client-node', () => {
  test('creates, reads, replaces, patches, lists and deletes objects', async () => {
    const body = { metadata: { name: 'crud', labels: { app: 'crud' } }, data: { color: 'blue' } }
    const created = await core.createNamespacedConfigMap({ namespace, body })
    expect(created.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/)
    expect(created.metadata?.creationTimestamp).toBeInstanceOf(Date)
    const read = await core.readNamespacedConfigMap({ namespace, name: 'crud' })
    read.data = { color: 'green' }
    const replaced = await core.replaceNamespacedConfigMap({ namespace, name: 'crud', body: read })
    expect(replaced.data).toEqual({ color: 'green' })
    const patch = [{ op: 'add', path: '/data/size', value: 'xl' }]
    const patched = await core.patchNamespacedConfigMap({ namespace, name: 'crud', body: patch })
    expect(patched.data).toEqual({ color: 'green', size: 'xl' })
    const list = await core.listNamespacedConfigMap({ namespace, labelSelector: 'app=crud' })
    expect(list.items.map((item) => item.metadata?.name)).toEqual(['crud'])
    await core.deleteNamespacedConfigMap({ namespace, name: 'crud' })
    const gone = core.readNamespacedConfigMap({ namespace, name: 'crud' })
    await expect(gone).rejects.toMatchObject({ code: 404 })
  })

  test('reports a conflict with its Status', async () => {
    const body = { metadata: { name: 'conflict' } }
    const first = await core.createNamespacedConfigMap({ namespace, body })
    await core.replaceNamespacedConfigMap({ namespace, name: 'conflict', body: { ...first, data: { a: '1' } } })
    const stale = core.replaceNamespacedConfigMap({ namespace, name: 'conflict', body: { ...first, data: { a: '2' } } })
    const error = await stale.catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(k8s.ApiException)
    const { code, body: status } = error as k8s.ApiException<string>
    expect(code).toBe(409)
    expect(JSON.parse(status)).toMatchObject({ kind: 'Status', reason: 'Conflict' })
  })

  test('applies with KubernetesObjectApi', async () => {
    const objects = k8s.KubernetesObjectApi.makeApiClient(config)
    const spec = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'applied', namespace }, data: { a: 'b' } }
    const applied = await objects.patch<k8s.V1ConfigMap>(
      spec,
      undefined,
      undefined,
      'test',
      true,
      k8s.PatchStrategy.ServerSideApply,
    )
    expect(applied.metadata?.managedFields?.[0]).toMatchObject({ manager: 'test', operation: 'Apply' })
  })

  test('watches', async () => {
    const events = recorder<string>()
    const abort = await new k8s.Watch(config).watch(
      `/api/v1/namespaces/${namespace}/secrets`,
      { allowWatchBookmarks: true },
      // The bookmark after the initial events may come before or after the first change.
      (type: string, { metadata }: k8s.V1Secret) => type !== 'BOOKMARK' && events.push(`${type} ${metadata?.name}`),
      () => undefined,
    )
    await core.createNamespacedSecret({ namespace, body: { metadata: { name: 'watched' } } })
    await core.deleteNamespacedSecret({ namespace, name: 'watched' })
    await events.until(2)
    abort.abort()
    expect(events.seen).toEqual(['ADDED watched', 'DELETED watched'])
  })

  test('keeps an informer up to date, also after a lost connection', async () => {
    const list = (): Promise<k8s.V1ConfigMapList> =>
      core.listNamespacedConfigMap({ namespace, labelSelector: 'informed=yes' })
    const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list, 'informed=yes')
    const events = recorder<string>()
    for (const verb of ['add', 'update', 'delete'] as const)
      informer.on(verb, (object: k8s.V1ConfigMap) => events.push(`${verb} ${object.metadata?.name}`))
    const make = (name: string): Promise<unknown> =>
      core.createNamespacedConfigMap({ namespace, body: { metadata: { name, labels: { informed: 'yes' } } } })
    await make('one')
    await informer.start()
    await events.until(1)
    await make('two')
    await events.until(2)
    // Changes between stop and start are found by listing again.
    await informer.stop()
    await make('three')
    await core.deleteNamespacedConfigMap({ namespace, name: 'one' })
    await informer.start()
    await events.until(4)
    await informer.stop()
    expect(events.seen.slice(0, 2)).toEqual(['add one', 'add two'])
    expect(events.seen.slice(2).toSorted()).toEqual(['add three', 'delete one'])
    expect(
      informer
        .list()
        .map((object) => object.metadata?.name)
        .toSorted(),
    ).toEqual(['three', 'two'])
  })

  test('discovers the served resources', async () => {
    const { groups } = await config.makeApiClient(k8s.ApisApi).getAPIVersions()
    expect(groups.map((group) => group.name)).toContain('apps')
    const version = await config.makeApiClient(k8s.VersionApi).getCode()
    expect(version.gitVersion).toBe('v1.35.8')
  })
})
