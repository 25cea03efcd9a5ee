import { isInvalid } from 'kubewright'
import { Deployment, Event } from 'kubewright/k8s'
import { startTestEnv, type TestEnv } from 'kubewright/testing'
import { describe, expect, test } from 'vitest'
import { Foo } from './foo.ts'
import { operator } from './operator.ts'

const start = (): Promise<TestEnv> => startTestEnv(operator, { time: 'virtual' })
const foo = (replicas?: number, deploymentName = 'test-deployment') =>
  Foo({ metadata: { name: 'test' }, spec: { deploymentName, replicas } })
const hasReplicas = (count: number) => (deployment: Deployment) => deployment.spec?.replicas === count
const available = (count: number) => (object: Foo) => object.status?.availableReplicas === count

async function events(env: TestEnv): Promise<string[]> {
  await env.settled()
  const list = await env.client.list(Event, { fields: { 'involvedObject.kind': 'Foo' } })
  return list.map(({ type, reason, message }) => `${type} ${reason} ${message}`)
}

describe('Foo', () => {
  test('with one replica gets a Deployment with one replica', async () => {
    await using env = await start()
    const { metadata } = await env.client.create(foo())
    const deployment = await env.until(Deployment, 'test-deployment', hasReplicas(1))
    expect(deployment).toMatchObject({
      metadata: {
        labels: { app: 'nginx', controller: 'test' },
        ownerReferences: [{ kind: 'Foo', name: 'test', uid: metadata.uid, controller: true, blockOwnerDeletion: true }],
      },
      spec: { template: { spec: { containers: [{ image: 'nginx:latest' }] } } },
    })
    await env.until(Foo, 'test', available(1))
    expect(await events(env)).toEqual(
      expect.arrayContaining([
        'Normal Created Created deployment "test-deployment"',
        'Normal Updated Update foo.status.AvailableReplicas: 1',
      ]),
    )
  })

  test('with two replicas gets a Deployment with two replicas', async () => {
    await using env = await start()
    await env.client.create(foo(2))
    await env.until(Deployment, 'test-deployment', hasReplicas(2))
    await env.until(Foo, 'test', available(2))
  })

  test('scales its Deployment when its replicas change', async () => {
    await using env = await start()
    await env.client.create(foo(1))
    await env.until(Foo, 'test', available(1))
    await env.client.patch(Foo, 'test', { spec: { replicas: 2 } })
    await env.until(Foo, 'test', available(2))
    expect((await env.client.get(Deployment, 'test-deployment')).spec?.replicas).toBe(2)
    expect(await events(env)).toContain('Normal Scaled Scaled deployment "test-deployment" to 2 replicas')
  })

  test('replaces its Deployment when its deploymentName changes', async () => {
    await using env = await start()
    await env.client.create(foo(1))
    await env.until(Foo, 'test', available(1))
    await env.client.patch(Foo, 'test', { spec: { deploymentName: 'renamed' } })
    await env.until(Deployment, 'renamed', hasReplicas(1))
    await env.gone(Deployment, 'test-deployment', { timeout: '5s' })
    expect(await events(env)).toContain('Normal Deleted Deleted deployment "test-deployment"')
  })

  test('is not changed once it has settled', async () => {
    await using env = await start()
    await env.client.create(foo(1))
    await env.until(Foo, 'test', available(1))
    await env.settled()
    const before = [await env.client.get(Foo, 'test'), await env.client.get(Deployment, 'test-deployment')]
    await env.advance('10m')
    expect([await env.client.get(Foo, 'test'), await env.client.get(Deployment, 'test-deployment')]).toEqual(before)
  })

  test('reverts foreign changes of its Deployment', async () => {
    await using env = await start()
    await env.client.create(foo(1))
    await env.until(Foo, 'test', available(1))
    await env.client.subresource(Deployment, 'scale').patch('test-deployment', { spec: { replicas: 0 } })
    await env.settled()
    expect((await env.client.get(Deployment, 'test-deployment')).spec?.replicas).toBe(1)
    const deleted = await env.client.delete(Deployment, 'test-deployment')
    await env.until(Deployment, 'test-deployment', ({ metadata }) => metadata.uid !== deleted?.metadata.uid)
    await env.until(Foo, 'test', available(1))
  })

  test('does not change a Deployment that it does not own, and records an event', async () => {
    await using env = await start()
    const labels = { app: 'other' }
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } }
    await env.client.create(
      Deployment({ metadata: { name: 'test-deployment' }, spec: { selector: { matchLabels: labels }, template } }),
    )
    await env.client.create(foo(3))
    expect(await events(env)).toContain(
      'Warning ErrResourceExists Resource "test-deployment" already exists and is not managed by Foo',
    )
    const deployment = await env.client.get(Deployment, 'test-deployment')
    expect([deployment.spec?.replicas, deployment.metadata.ownerReferences]).toEqual([1, undefined])
    expect(env.reconciles()[0]).toMatchObject({ result: 'error' })
    expect((await env.client.get(Foo, 'test')).status).toBeUndefined()
  })

  test('waits when it has no deploymentName', async () => {
    await using env = await start()
    await env.client.create(foo(1, ''))
    await env.settled()
    await env.advance('10m')
    expect(env.reconciles().map(({ result }) => result)).toEqual(['success'])
    await env.client.patch(Foo, 'test', { spec: { deploymentName: 'at-last' } })
    await env.until(Deployment, 'at-last')
  })

  test('deletes its Deployment when it is deleted', async () => {
    await using env = await start()
    await env.client.create(foo(1))
    await env.until(Foo, 'test', available(1))
    await env.client.delete(Foo, 'test')
    await env.gone(Deployment, 'test-deployment')
  })

  test('rejects a negative number of replicas', async () => {
    await using env = await start()
    await expect(env.client.create(foo(-1))).rejects.toSatisfy(isInvalid)
  })
})
