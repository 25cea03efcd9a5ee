import { findCondition } from 'kubewright'
import { Deployment } from 'kubewright/k8s'
import { isTrue, startTestEnv } from 'kubewright/testing'
import { expect, test } from 'vitest'
import { Memcached } from './memcached.ts'
import { operator } from './operator.ts'

test('a Memcached creates a Deployment, follows its size and reports when it is available', async () => {
  await using env = await startTestEnv(operator, { time: 'virtual' })
  await env.client.create(Memcached({ metadata: { name: 'test' }, spec: { size: 1 } }))
  const { status } = await env.until(Memcached, 'test', isTrue('Available'))
  expect(status?.conditions).toMatchObject([{ type: 'Available', status: 'True', reason: 'Reconciling' }])
  expect(await env.client.get(Deployment, 'test')).toMatchObject({
    spec: { replicas: 1, template: { spec: { containers: [{ ports: [{ containerPort: 11211 }] }] } } },
  })

  await env.client.patch(Memcached, 'test', { spec: { size: 3 } })
  await env.until(Deployment, 'test', (deployment) => deployment.status?.availableReplicas === 3)
  await env.client.delete(Memcached, 'test')
  await env.gone(Deployment, 'test')
})

test('a Memcached repairs its Deployment', async () => {
  await using env = await startTestEnv(operator, { time: 'virtual' })
  await env.client.create(Memcached({ metadata: { name: 'test' }, spec: {} }))
  await env.until(Memcached, 'test', isTrue('Available'))
  await env.client.patch(Deployment, 'test', { spec: { replicas: 5 } })
  await env.until(Deployment, 'test', ({ spec }) => spec?.replicas === 1)
  await env.client.delete(Deployment, 'test')
  await env.until(Deployment, 'test', (deployment) => deployment.status?.availableReplicas === 1)
})

test('a Memcached reports why its Deployment cannot be applied', async () => {
  await using env = await startTestEnv(operator, { time: 'virtual' })
  // The name of a Deployment's Pods becomes too long for a label.
  await env.client.create(Memcached({ metadata: { name: 'x'.repeat(70) }, spec: {} }))
  const { status } = await env.until(Memcached, 'x'.repeat(70), (object) => object.status !== undefined)
  expect(findCondition(status?.conditions, 'Available')).toMatchObject({
    status: 'False',
    message: expect.stringContaining('must be no more than 63'),
  })
})
