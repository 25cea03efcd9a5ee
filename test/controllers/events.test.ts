import { builtinControllers } from '@kubewright/controllers'
import { Deployment, Event, Job, Pod, ReplicaSet, ResourceQuota, StatefulSet } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { type Plane, startPlane } from './plane.ts'

const controllers = builtinControllers
  .filter(({ name }) => /deployment|replicaset|statefulset|^job/.test(name))
  .flatMap((one) => one.controllers)
const meta = (name: string) => ({ name, namespace: 'test' })
const selector = { matchLabels: { app: 'web' } }
const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image }] },
})

/** The recorded events, without the random parts of names. */
async function recordedEvents({ api, settle }: Plane): Promise<string[]> {
  await settle()
  const events = await api.list(Event, { namespace: 'test' })
  const lines = events.map(
    ({ involvedObject, message = '', reason, type }) => `${type} ${involvedObject.kind} ${reason}: ${message}`,
  )
  return [
    ...new Set(lines.map((line) => line.replace(/\b(web|once)-[bcdfghjklmnpqrstvwxz2456789-]{5,}/g, '$1-*'))),
  ].sort()
}

test('Events of a roll-out are those of kube-controller-manager and kube-scheduler', async () => {
  await using plane = await startPlane({ controllers, nodes: 1 })
  await plane.api.create(
    Deployment({ metadata: meta('web'), spec: { replicas: 2, selector, template: template('a') } }),
  )
  await plane.until(Deployment, 'test/web', ({ status }) => status?.availableReplicas === 2)
  await plane.api.patch(Deployment, 'test/web', { spec: { replicas: 1 } })
  await plane.until(Deployment, 'test/web', ({ status }) => status?.replicas === 1)
  expect(await recordedEvents(plane)).toEqual([
    'Normal Deployment ScalingReplicaSet: Scaled down replica set web-* from 2 to 1',
    'Normal Deployment ScalingReplicaSet: Scaled up replica set web-* from 0 to 2',
    'Normal Pod Killing: Stopping container c',
    'Normal Pod Scheduled: Successfully assigned test/web-* to node-1',
    'Normal ReplicaSet SuccessfulCreate: Created pod: web-*',
    'Normal ReplicaSet SuccessfulDelete: Deleted pod: web-*',
  ])
})

test('Events of stateful sets and jobs are those of kube-controller-manager', async () => {
  await using plane = await startPlane({ controllers, nodes: 1 })
  const { api } = plane
  await api.create(
    StatefulSet({ metadata: meta('db'), spec: { replicas: 1, serviceName: 'db', selector, template: template('a') } }),
  )
  const task = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'c', image: 'x' }] } }
  await api.create(Job({ metadata: meta('once'), spec: { template: task } }))
  await plane.until(Job, 'test/once', ({ status }) => status?.completionTime !== undefined)
  const lines = await recordedEvents(plane)
  expect(lines.filter((line) => !line.includes(' Pod '))).toEqual([
    'Normal Job Completed: Job completed',
    'Normal Job SuccessfulCreate: Created pod: once-*',
  ])
  expect(lines).toContain('Normal StatefulSet SuccessfulCreate: Create Pod db-0 in StatefulSet db successful')
})

test('a failure to create pods is reported by Event and condition until it is resolved', async () => {
  await using plane = await startPlane({ controllers, nodes: 1 })
  const { api } = plane
  await api.create(ResourceQuota({ metadata: meta('none'), spec: { hard: { pods: '0' } } }))
  const quota = await api.get(ResourceQuota, 'test/none')
  await api
    .subresource(ResourceQuota, 'status')
    .update({ ...quota, status: { hard: { pods: '0' }, used: { pods: '0' } } })
  await api.create(Deployment({ metadata: meta('web'), spec: { replicas: 1, selector, template: template('a') } }))
  const failing = await plane.until(
    Deployment,
    'test/web',
    ({ status }) => status?.conditions?.some(({ type }) => type === 'ReplicaFailure') ?? false,
  )
  const failure = failing.status?.conditions?.find(({ type }) => type === 'ReplicaFailure')
  expect(failure).toMatchObject({ status: 'True', reason: 'FailedCreate' })
  expect(failure?.message).toMatch(
    /is forbidden: exceeded quota: none, requested: pods=1, used: pods=0, limited: pods=0$/,
  )
  expect((await recordedEvents(plane)).find((line) => line.includes('FailedCreate'))).toMatch(
    /^Warning ReplicaSet FailedCreate: Error creating: pods /,
  )
  await api.delete(ResourceQuota, 'test/none')
  const mended = await plane.until(Deployment, 'test/web', ({ status }) => status?.availableReplicas === 1)
  expect(mended.status?.conditions?.map(({ type }) => type)).not.toContain('ReplicaFailure')
})

test('a deployment counts the collision and uses another name when the name of its replica set is taken', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  const draft = Deployment({ metadata: meta('web'), spec: { replicas: 0, selector, template: template('a') } })
  await api.create(draft)
  await plane.settle()
  const [first] = await api.list(ReplicaSet, { namespace: 'test' })
  const name = first?.metadata.name ?? ''
  await api.delete(Deployment, 'test/web')
  await api.delete(ReplicaSet, `test/${name}`)
  await plane.settle()
  const foreign = { matchLabels: { app: 'foreign' } }
  const other = { metadata: { labels: { app: 'foreign' } }, spec: { containers: [{ name: 'c', image: 'a' }] } }
  await api.create(ReplicaSet({ metadata: meta(name), spec: { replicas: 0, selector: foreign, template: other } }))
  await api.create(draft)
  const deployment = await plane.until(Deployment, 'test/web', ({ status }) => status?.collisionCount === 1)
  await plane.settle()
  const sets = (await api.list(ReplicaSet, { namespace: 'test' })).map(({ metadata }) => metadata.name)
  expect(sets).toHaveLength(2)
  expect(sets).toContain(name)
  expect(deployment.status?.collisionCount).toBe(1)
  expect(await api.list(Pod, { namespace: 'test' })).toEqual([])
})
