import { controllerOf } from '@kubewright/api'
import { builtinControllers, createDefaultStorageClass, volumeBinder } from '@kubewright/controllers'
import {
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  Event,
  Job,
  Namespace,
  Node,
  PersistentVolumeClaim,
  Pod,
  ReplicaSet,
  StatefulSet,
} from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { startPlane } from './plane.ts'

const wanted = /deployment|replicaset|statefulset|daemonset|^job|cronjob|ttl|pod-garbage/
const controllers = builtinControllers.filter(({ name }) => wanted.test(name)).flatMap((one) => one.controllers)

const meta = (name: string) => ({ name, namespace: 'test' })
const selector = { matchLabels: { app: 'web' } }
const template = (image = 'nginx:1.27', annotations: Record<string, string> = {}) => ({
  metadata: { labels: { app: 'web' }, annotations },
  spec: { containers: [{ name: 'web', image }] },
})

test('a deployment becomes available on simulated nodes and rolls out a new template', async () => {
  await using plane = await startPlane({ controllers, nodes: 2 })
  const { api } = plane
  await api.create(Deployment({ metadata: meta('web'), spec: { replicas: 3, selector, template: template() } }))
  const first = await plane.until(Deployment, 'test/web', ({ status }) => status?.availableReplicas === 3)
  expect(first.status).toMatchObject({ replicas: 3, updatedReplicas: 3, readyReplicas: 3, observedGeneration: 1 })
  expect(first.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('1')
  await plane.settle()
  const settled = await api.get(Deployment, 'test/web')
  expect(settled.status?.conditions?.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
    'Available MinimumReplicasAvailable',
    'Progressing NewReplicaSetAvailable',
  ])

  const image = '/spec/template/spec/containers/0/image'
  await api.patch(Deployment, 'test/web', [{ op: 'replace', path: image, value: 'nginx:1.28' }])
  const second = await plane.until(Deployment, 'test/web', ({ status }) => {
    const { availableReplicas, observedGeneration, replicas, updatedReplicas } = status ?? {}
    return observedGeneration === 2 && updatedReplicas === 3 && replicas === 3 && availableReplicas === 3
  })
  expect(second.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('2')
  const sets = await api.list(ReplicaSet, { namespace: 'test' })
  expect(sets.map(({ spec }) => spec.replicas).sort()).toEqual([0, 3])
  const pods = await api.list(Pod, { namespace: 'test' })
  expect(pods.map(({ spec }) => spec.containers[0]?.image)).toEqual(Array(3).fill('nginx:1.28'))

  // Back to the first template, as kubectl rollout undo does.
  await api.patch(Deployment, 'test/web', [{ op: 'replace', path: image, value: 'nginx:1.27' }])
  const third = await plane.until(
    Deployment,
    'test/web',
    ({ status }) => status?.observedGeneration === 3 && status.updatedReplicas === 3 && status.replicas === 3,
  )
  expect(third.metadata.annotations?.['deployment.kubernetes.io/revision']).toBe('3')
  const back = (await api.list(ReplicaSet, { namespace: 'test' })).find(({ spec }) => spec.replicas === 3)
  expect(back?.metadata.annotations?.['deployment.kubernetes.io/revision-history']).toBe('1')
  expect(plane.errors()).toEqual([])
})

test('a deployment with crashing pods respects its limits and exceeds its progress deadline', async () => {
  await using plane = await startPlane({
    controllers,
    nodes: 1,
    plan: { images: { 'broken:*': { exitCode: 1, runFor: '1s', ready: false } } },
  })
  const { api } = plane
  const spec = { replicas: 4, selector, progressDeadlineSeconds: 60, template: template() }
  await api.create(Deployment({ metadata: meta('web'), spec }))
  await plane.until(Deployment, 'test/web', ({ status }) => status?.availableReplicas === 4)
  await api.patch(Deployment, 'test/web', { spec: { template: template('broken:1') } })
  const stuck = await plane.until(
    Deployment,
    'test/web',
    ({ status }) => status?.conditions?.some(({ reason }) => reason === 'ProgressDeadlineExceeded') ?? false,
  )
  expect(stuck.status).toMatchObject({ availableReplicas: 3, updatedReplicas: 2, replicas: 5 })
  const bad = (await api.list(Pod, { namespace: 'test' })).find(
    ({ spec: { containers } }) => containers[0]?.image === 'broken:1',
  )
  expect(bad?.status?.containerStatuses?.[0]?.restartCount).toBeGreaterThan(2)
  expect(plane.errors()).toEqual([])
})

test('a Recreate deployment never runs old and new pods at the same time', async () => {
  await using plane = await startPlane({ controllers, nodes: 1, plan: { default: { stopAfter: '5s' } } })
  const { api } = plane
  const spec = { replicas: 2, selector, strategy: { type: 'Recreate' as const }, template: template() }
  await api.create(Deployment({ metadata: meta('web'), spec }))
  await plane.until(Deployment, 'test/web', ({ status }) => status?.availableReplicas === 2)
  await api.patch(Deployment, 'test/web', { spec: { template: template('nginx:2') } })
  await plane.advance('4s')
  const images = async () => (await api.list(Pod, { namespace: 'test' })).map((pod) => pod.spec.containers[0]?.image)
  expect(await images()).toEqual(['nginx:1.27', 'nginx:1.27'])
  await plane.until(
    Deployment,
    'test/web',
    ({ status }) => status?.updatedReplicas === 2 && status.availableReplicas === 2,
  )
  expect(await images()).toEqual(['nginx:2', 'nginx:2'])
  expect(plane.errors()).toEqual([])
})

test('a paused deployment does not roll out and reports it', async () => {
  await using plane = await startPlane({ controllers, nodes: 1 })
  const { api } = plane
  await api.create(Deployment({ metadata: meta('web'), spec: { replicas: 1, selector, template: template() } }))
  await plane.until(Deployment, 'test/web', ({ status }) => status?.availableReplicas === 1)
  await api.patch(Deployment, 'test/web', { spec: { paused: true, template: template('nginx:2') } })
  await plane.settle()
  const paused = await api.get(Deployment, 'test/web')
  const progressing = paused.status?.conditions?.find(({ type }) => type === 'Progressing')
  expect(progressing).toMatchObject({ status: 'Unknown', reason: 'DeploymentPaused', message: 'Deployment is paused' })
  expect(await api.list(ReplicaSet, { namespace: 'test' })).toHaveLength(1)
  await api.patch(Deployment, 'test/web', { spec: { paused: false } })
  await plane.until(
    Deployment,
    'test/web',
    ({ status }) => status?.updatedReplicas === 1 && status.replicas === 1 && status.observedGeneration === 3,
  )
  expect(await api.list(ReplicaSet, { namespace: 'test' })).toHaveLength(2)
  expect(plane.errors()).toEqual([])
})

test('a replica set adopts matching pods and releases pods that no longer match', async () => {
  await using plane = await startPlane({ controllers, nodes: 1 })
  const { api } = plane
  const labels = { app: 'web' }
  await api.create(
    Pod({ metadata: { ...meta('orphan'), labels }, spec: { containers: [{ name: 'web', image: 'nginx' }] } }),
  )
  await api.create(ReplicaSet({ metadata: meta('web'), spec: { replicas: 2, selector, template: template() } }))
  await plane.until(ReplicaSet, 'test/web', ({ status }) => status?.readyReplicas === 2)
  expect(controllerOf(await api.get(Pod, 'test/orphan'))?.name).toBe('web')
  await api.patch(Pod, 'test/orphan', { metadata: { labels: { app: 'other' } } })
  await plane.settle()
  expect(controllerOf(await api.get(Pod, 'test/orphan'))).toBeUndefined()
  expect(await api.list(Pod, { namespace: 'test', labels })).toHaveLength(2)
  await plane.until(ReplicaSet, 'test/web', ({ status }) => status?.readyReplicas === 2 && status.replicas === 2)
  const events = await api.list(Event, { namespace: 'test' })
  expect(events.map(({ reason }) => reason)).toContain('SuccessfulCreate')
  expect(plane.errors()).toEqual([])
})

test('a stateful set starts in order, keeps its claims and updates in reverse order down to its partition', async () => {
  const plan = { default: { readyAfter: '2s' } } as const
  await using plane = await startPlane({ controllers: [...controllers, volumeBinder], nodes: 1, plan })
  const { api } = plane
  await createDefaultStorageClass(api)
  await api.create(
    StatefulSet({
      metadata: meta('db'),
      spec: {
        replicas: 3,
        serviceName: 'db',
        selector,
        template: template(),
        volumeClaimTemplates: [
          {
            metadata: { name: 'data' },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
          },
        ],
      },
    }),
  )
  await plane.settle()
  const names = async () => (await api.list(Pod, { namespace: 'test' })).map(({ metadata }) => metadata.name)
  expect(await names()).toEqual(['db-0'])
  await plane.until(StatefulSet, 'test/db', ({ status }) => status?.readyReplicas === 3)
  expect(await names()).toEqual(['db-0', 'db-1', 'db-2'])
  const claims = await api.list(PersistentVolumeClaim, { namespace: 'test' })
  expect(claims.map(({ metadata }) => metadata.name)).toEqual(['data-db-0', 'data-db-1', 'data-db-2'])

  await api.patch(StatefulSet, 'test/db', {
    spec: { template: template('nginx:2'), updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } } },
  })
  const updated = await plane.until(
    StatefulSet,
    'test/db',
    ({ status }) => status?.updatedReplicas === 2 && status.readyReplicas === 3 && status.observedGeneration === 2,
  )
  const images = async () => (await api.list(Pod, { namespace: 'test' })).map((pod) => pod.spec.containers[0]?.image)
  expect(await images()).toEqual(['nginx:1.27', 'nginx:2', 'nginx:2'])
  expect(updated.status?.currentRevision).not.toBe(updated.status?.updateRevision)
  expect(await api.list(ControllerRevision, { namespace: 'test' })).toHaveLength(2)

  await api.subresource(StatefulSet, 'scale').patch('test/db', { spec: { replicas: 1 } })
  await plane.until(StatefulSet, 'test/db', ({ status }) => status?.replicas === 1)
  expect(await names()).toEqual(['db-0'])
  expect(await api.list(PersistentVolumeClaim, { namespace: 'test' })).toHaveLength(3)
  expect(plane.errors()).toEqual([])
})

test('a stateful set that is being deleted gets no new revision', async () => {
  await using plane = await startPlane({ controllers, nodes: 1 })
  const { api } = plane
  const metadata = { ...meta('db'), finalizers: ['example.com/hold'] }
  const spec = { serviceName: 'db', replicas: 1, selector, template: template() }
  await api.create(StatefulSet({ metadata, spec }))
  await plane.until(StatefulSet, 'test/db', ({ status }) => status?.readyReplicas === 1)
  const [revision] = await api.list(ControllerRevision, { namespace: 'test' })
  await api.delete(StatefulSet, 'test/db')
  // As the garbage collector does in a deletion in the foreground. A new revision would block it again.
  await api.delete(ControllerRevision, `test/${revision?.metadata.name}`)
  await plane.settle()
  expect(await api.list(ControllerRevision, { namespace: 'test' })).toEqual([])
})

test('a daemon set runs a pod on each tolerated node and follows changes of nodes and template', async () => {
  const nodes = [
    { name: 'a' },
    { name: 'b', labels: { disk: 'ssd' } },
    { name: 'c', taints: [{ key: 'dedicated', value: 'x', effect: 'NoSchedule' as const }] },
  ]
  await using plane = await startPlane({ controllers, nodes })
  const { api } = plane
  await api.create(DaemonSet({ metadata: meta('agent'), spec: { selector, template: template() } }))
  const started = await plane.until(DaemonSet, 'test/agent', ({ status }) => status?.numberAvailable === 2)
  expect(started.status).toMatchObject({ desiredNumberScheduled: 2, currentNumberScheduled: 2, numberMisscheduled: 0 })
  const where = async () => (await api.list(Pod, { namespace: 'test' })).map(({ spec }) => spec.nodeName).sort()
  expect(await where()).toEqual(['a', 'b'])
  await api.patch(Node, 'c', { spec: { taints: [] } })
  await plane.until(DaemonSet, 'test/agent', ({ status }) => status?.numberAvailable === 3)
  expect(await where()).toEqual(['a', 'b', 'c'])
  const pods = template('agent:2')
  await api.patch(DaemonSet, 'test/agent', {
    spec: { template: { ...pods, spec: { ...pods.spec, nodeSelector: { disk: 'ssd' } } } },
  })
  await plane.until(
    DaemonSet,
    'test/agent',
    ({ status }) =>
      status?.updatedNumberScheduled === 1 && status.numberAvailable === 1 && status.desiredNumberScheduled === 1,
  )
  expect(await where()).toEqual(['b'])
  expect(plane.errors()).toEqual([])
})

const task = (restartPolicy: 'Never' | 'OnFailure', annotations: Record<string, string> = {}) => ({
  metadata: { annotations },
  spec: { restartPolicy, containers: [{ name: 'c', image: 'busybox' }] },
})

test('a job runs to completion and is deleted after its TTL', async () => {
  await using plane = await startPlane({ controllers, nodes: 1 })
  const spec = { completions: 3, parallelism: 2, ttlSecondsAfterFinished: 60, template: task('Never') }
  await plane.api.create(Job({ metadata: meta('once'), spec }))
  const job = await plane.until(Job, 'test/once', ({ status }) => status?.completionTime !== undefined)
  expect(job.status).toMatchObject({ succeeded: 3, uncountedTerminatedPods: {} })
  expect(job.status?.conditions?.map(({ type }) => type)).toEqual(['SuccessCriteriaMet', 'Complete'])
  const pods = await plane.api.list(Pod, { namespace: 'test' })
  expect(pods.map(({ metadata, status }) => [status?.phase, metadata.finalizers])).toEqual(
    Array(3).fill(['Succeeded', undefined]),
  )
  await plane.advance('2m')
  const gone = await plane.api.find(Job, 'test/once')
  // Foreground deletion waits for the garbage collector, which does not run here.
  expect(gone?.metadata.deletionTimestamp).toBeDefined()
  expect(plane.errors()).toEqual([])
})

test('a job with failing pods backs off and fails at its limit', async () => {
  await using plane = await startPlane({ controllers, nodes: 1 })
  const template = task('Never', { 'kubewright.dev/exit-code': '3' })
  await plane.api.create(Job({ metadata: meta('bad'), spec: { backoffLimit: 2, template } }))
  const start = plane.clock.now()
  const job = await plane.until(
    Job,
    'test/bad',
    ({ status }) => status?.conditions?.some(({ type }) => type === 'Failed') ?? false,
  )
  expect(job.status).toMatchObject({ failed: 3 })
  expect(job.status?.conditions?.map(({ type, reason }) => `${type} ${reason}`)).toEqual([
    'FailureTarget BackoffLimitExceeded',
    'Failed BackoffLimitExceeded',
  ])
  expect(plane.clock.now() - start).toBeGreaterThanOrEqual(30_000)
  expect(plane.errors()).toEqual([])
})

test('an indexed job assigns each pod an index and completes all of them', async () => {
  await using plane = await startPlane({ controllers, nodes: 1 })
  const spec = { completionMode: 'Indexed' as const, completions: 4, parallelism: 2, template: task('Never') }
  await plane.api.create(Job({ metadata: meta('indexed'), spec }))
  const job = await plane.until(Job, 'test/indexed', ({ status }) => status?.completionTime !== undefined)
  expect(job.status).toMatchObject({ succeeded: 4, completedIndexes: '0-3' })
  const pods = await plane.api.list(Pod, { namespace: 'test' })
  expect(pods.map(({ spec: { hostname } }) => hostname).sort()).toEqual([
    'indexed-0',
    'indexed-1',
    'indexed-2',
    'indexed-3',
  ])
  expect(plane.errors()).toEqual([])
})

test('a cron job starts jobs on schedule and keeps the configured history', async () => {
  await using plane = await startPlane({ controllers, nodes: 1 })
  const { api } = plane
  await api.create(
    CronJob({
      metadata: meta('tick'),
      spec: {
        schedule: '*/5 * * * *',
        successfulJobsHistoryLimit: 2,
        jobTemplate: { spec: { template: task('Never') } },
      },
    }),
  )
  await plane.advance('11m')
  const jobs = async () =>
    (await api.list(Job, { namespace: 'test' })).filter((job) => job.metadata.deletionTimestamp === undefined)
  expect((await jobs()).map(({ metadata }) => metadata.name)).toEqual(['tick-28928165', 'tick-28928170'])
  await plane.advance('10m')
  expect(await jobs()).toHaveLength(2)
  const cronJob = await api.get(CronJob, 'test/tick')
  expect(cronJob.status?.lastScheduleTime).toBe('2025-01-01T00:20:00Z')
  // The job controller waits a second after the pod has finished.
  expect(cronJob.status?.lastSuccessfulTime).toBe('2025-01-01T00:20:02Z')
  expect(cronJob.status?.active).toBeUndefined()
  expect(plane.errors()).toEqual([])
})

test('the CronJob controller runs jobs in their time zone and reports schedules that never fire', async () => {
  await using plane = await startPlane({ controllers, nodes: 1 })
  const { api } = plane
  const jobTemplate = { spec: { template: task('Never') } }
  const spec = { schedule: '1,,32 * * * *', timeZone: 'Asia/Kolkata', jobTemplate }
  await api.create(CronJob({ metadata: meta('zoned'), spec }))
  await api.create(CronJob({ metadata: meta('never'), spec: { schedule: '0 0 31 2 *', jobTemplate } }))
  await plane.advance('3m')
  const [job] = await api.list(Job, { namespace: 'test' })
  expect(job?.metadata.annotations).toEqual({
    'batch.kubernetes.io/cronjob-scheduled-timestamp': '2025-01-01T05:32:00+05:30',
  })
  const events = await api.list(Event, { namespace: 'test' })
  const texts = events.filter(({ reason }) => reason === 'InvalidSchedule').map(({ message }) => message)
  expect(texts).toEqual(['invalid schedule: 0 0 31 2 * : time difference between two schedules is less than 1 second'])
})

test('a deployment in a namespace that is being deleted causes no errors', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  await api.create(Namespace({ metadata: { name: 'dying' } }))
  const metadata = { name: 'web', namespace: 'dying' }
  await api.create(Deployment({ metadata, spec: { paused: true, replicas: 1, selector, template: template() } }))
  await plane.settle()
  await api.delete(Namespace, 'dying')
  await api.patch(Deployment, 'dying/web', { spec: { paused: false } })
  await plane.settle()
  expect(await api.list(ReplicaSet, { namespace: 'dying' })).toEqual([])
  expect(plane.errors()).toEqual([])
})

test('the data of revisions has sorted members, because clients compare its bytes', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  const spec = { selector, template: template() }
  await api.create(DaemonSet({ metadata: meta('daemon'), spec }))
  await api.create(StatefulSet({ metadata: meta('state'), spec: { serviceName: 'state', ...spec } }))
  await plane.settle()
  const revisions = await api.list(ControllerRevision, { namespace: 'test' })
  expect(revisions).toHaveLength(2)
  const sorted = (_: string, value: unknown): unknown =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value
  for (const { data } of revisions) expect(JSON.stringify(data)).toBe(JSON.stringify(data, sorted))
})
