import { drainMicrotasks } from '@kubewright/base'
import { builtinControllers } from '@kubewright/controllers'
import { Deployment, Pod, ReplicaSet, ReplicationController } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { startPlane } from './plane.ts'

const controllers = builtinControllers
  .filter(({ name }) => /deployment|replicaset|replicationcontroller/.test(name))
  .flatMap((one) => one.controllers)
const meta = (name: string) => ({ name, namespace: 'test' })
const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image }] },
})

test('a roll-out completes while controllers and nodes are restarted repeatedly', async () => {
  await using plane = await startPlane({ controllers, nodes: 2, plan: { default: { readyAfter: '1s' } } })
  const { api } = plane
  const spec = { replicas: 4, selector: { matchLabels: { app: 'web' } }, template: template('a') }
  await api.create(Deployment({ metadata: meta('web'), spec }))
  await plane.until(Deployment, 'test/web', ({ status }) => status?.availableReplicas === 4)
  await api.patch(Deployment, 'test/web', { spec: { template: template('b') } })
  for (let round = 0; round < 12; round++) {
    // Deliberately not settled: restart in the middle of the work.
    for (let turn = 0; turn < round * 3; turn++) await drainMicrotasks()
    await plane.restart()
    const pods = await api.list(Pod, { namespace: 'test' })
    const ready = pods.filter(({ metadata, status }) => {
      const isReady = status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false
      return isReady && metadata.deletionTimestamp === undefined
    })
    expect(ready.length).toBeGreaterThanOrEqual(3)
    expect(pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length).toBeLessThanOrEqual(5)
    if (round % 3 === 2) await plane.clock.advance('400ms')
  }
  await plane.until(
    Deployment,
    'test/web',
    ({ status }) => status?.updatedReplicas === 4 && status.replicas === 4 && status.availableReplicas === 4,
  )
  const sets = await api.list(ReplicaSet, { namespace: 'test' })
  expect(sets.map((set) => set.spec.replicas).sort()).toEqual([0, 4])
  const pods = await api.list(Pod, { namespace: 'test' })
  expect(new Set(pods.map(({ status }) => status?.podIP)).size).toBe(4)
  expect(plane.errors()).toEqual([])
})

test('a replication controller keeps its pods', async () => {
  await using plane = await startPlane({ controllers, nodes: 1 })
  const { api } = plane
  await api.create(ReplicationController({ metadata: meta('rc'), spec: { replicas: 2, template: template('a') } }))
  await plane.until(ReplicationController, 'test/rc', ({ status }) => status?.availableReplicas === 2)
  const [first] = await api.list(Pod, { namespace: 'test' })
  await api.delete(Pod, `test/${first?.metadata.name}`)
  await plane.settle()
  const left = await plane.until(ReplicationController, 'test/rc', ({ status }) => status?.availableReplicas === 2)
  expect(left.status).toMatchObject({ replicas: 2, fullyLabeledReplicas: 2, observedGeneration: 1 })
  expect(plane.errors()).toEqual([])
})
