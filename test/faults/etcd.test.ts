// `kubewright up --etcd`: several servers on one etcd, and an etcd that goes down and comes back.
import { beforeEach, describe, expect, test } from 'vitest'
import { noEtcd, startEtcd } from '../../packages/storage/src/testdata/etcd-process.ts'
import { configMap, type Reply, Requests } from '../up/requests.ts'
import { TemporaryFolder, UpProcess } from '../up/up-process.ts'

const maps = '/api/v1/namespaces/default/configmaps'

beforeEach(({ skip }) => {
  if (noEtcd !== undefined) skip(noEtcd)
})

describe('kubewright up --etcd', () => {
  test('lets two servers share an etcd and see each other’s writes', async () => {
    await using etcd = await startEtcd()
    using folder = new TemporaryFolder()
    await using one = await UpProcess.start(
      ['--controllers', 'none', '--etcd', etcd.url, '--kubeconfig', 'one'],
      folder.path,
    )
    await using two = await UpProcess.start(
      ['--controllers', 'none', '--etcd', etcd.url, '--kubeconfig', 'two'],
      folder.path,
    )
    using first = new Requests(one.kubeconfig)
    using second = new Requests(two.kubeconfig)
    const created = await first.send('POST', maps, configMap('shared', '1'))
    expect(created.status).toBe(201)
    expect((await second.send('GET', `${maps}/shared`)).body.data).toEqual({ value: '1' })
    const { resourceVersion } = created.body.metadata
    // Not older than the write, so the other server's cache must have received it.
    const listed = await second.send(
      'GET',
      `${maps}?resourceVersion=${resourceVersion}&resourceVersionMatch=NotOlderThan`,
    )
    expect(listed.body.items).toHaveLength(1)
    await second.send('PUT', `${maps}/shared`, configMap('shared', '2'))
    const stale = { ...created.body, data: { value: '3' } }
    expect((await first.send('PUT', `${maps}/shared`, stale)).status).toBe(409)
    // Tokens of one server are valid for the other, because they share their keys.
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    await first.send('POST', accounts, { metadata: { name: 'robot' } })
    const token = (await first.send('POST', `${accounts}/robot/token`, {})).body.status.token as string
    using robot = new Requests(two.kubeconfig, { cert: '', key: '' })
    const me = await robot.send(
      'POST',
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      {},
      {
        authorization: `Bearer ${token}`,
      },
    )
    expect(me.body.status.userInfo.username).toBe('system:serviceaccount:default:robot')
  })

  test('reports that etcd is unavailable and continues when it is back', async () => {
    await using etcd = await startEtcd()
    using folder = new TemporaryFolder()
    await using up = await UpProcess.start(['--controllers', 'none', '--etcd', etcd.url], folder.path)
    using requests = new Requests(up.kubeconfig)
    expect((await requests.send('POST', maps, configMap('before', '1'))).status).toBe(201)
    await etcd.kill()
    const failed = await requests.send('POST', maps, configMap('meanwhile', '1'))
    expect(failed.status).toBeGreaterThanOrEqual(500)
    expect(failed.body.kind).toBe('Status')
    expect((await requests.send('GET', '/readyz')).status).toBe(500)
    await etcd.start()
    const attempt = async (): Promise<Reply> => requests.send('POST', maps, configMap('after', '1'))
    await expect.poll(async () => (await attempt()).status).toBeOneOf([201, 409])
    expect((await requests.send('GET', `${maps}/before`)).body.data).toEqual({ value: '1' })
    await expect.poll(async () => (await requests.send('GET', '/readyz')).text).toBe('ok')
    const { body } = await requests.send('GET', `${maps}?resourceVersion=0`)
    expect(body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toEqual(
      expect.arrayContaining(['before', 'after']),
    )
  })

  test('reports an unreachable etcd in one line', async () => {
    using folder = new TemporaryFolder()
    const { code, notes } = await UpProcess.fail(['--etcd', 'http://127.0.0.1:1'], folder.path)
    expect(code).toBe(1)
    expect(notes).toEqual([expect.stringMatching(/^kubewright up: cannot reach etcd at http:\/\/127\.0\.0\.1:1 /)])
  })
})
