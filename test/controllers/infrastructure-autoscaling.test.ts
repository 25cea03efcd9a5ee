import { builtinControllers, metricsAnnotation } from '@kubewright/controllers'
import { Deployment, Event, HorizontalPodAutoscaler, Pod, PodDisruptionBudget } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { type Plane, startPlane } from './plane.ts'

const wanted = /deployment|replicaset|horizontal|disruption/
const controllers = builtinControllers.filter(({ name }) => wanted.test(name)).flatMap((one) => one.controllers)

const meta = (name: string, annotations: Record<string, string> = {}) => ({ name, namespace: 'test', annotations })
const matchLabels = { app: 'web' }

async function startWeb(replicas: number): Promise<Plane> {
  const plane = await startPlane({ controllers, nodes: 2 })
  const containers = [{ name: 'web', image: 'nginx', resources: { requests: { cpu: '100m' } } }]
  await plane.api.create(
    Deployment({
      metadata: meta('web'),
      spec: {
        replicas,
        selector: { matchLabels },
        template: { metadata: { labels: matchLabels }, spec: { containers } },
      },
    }),
  )
  await plane.until(Deployment, 'test/web', ({ status }) => status?.availableReplicas === replicas)
  return plane
}

const autoscaler = (metrics?: string) =>
  HorizontalPodAutoscaler({
    metadata: meta('web', metrics === undefined ? {} : { [metricsAnnotation]: metrics }),
    spec: {
      minReplicas: 1,
      maxReplicas: 5,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } },
      ],
    },
  })
const conditions = async ({ api }: Plane) => {
  const { status } = await api.get(HorizontalPodAutoscaler, 'test/web')
  return status?.conditions?.map(({ type, status, reason }) => `${type} ${status} ${reason}`)
}

test('an autoscaler scales by the reported load', async () => {
  await using plane = await startWeb(1)
  const { api } = plane
  await api.create(autoscaler('{"cpu":"200m"}'))
  await plane.until(
    Deployment,
    'test/web',
    ({ spec, status }) => spec?.replicas === 4 && status?.availableReplicas === 4,
  )
  await plane.advance('30s')
  expect(await conditions(plane)).toEqual([
    'AbleToScale True ReadyForNewScale',
    'ScalingActive True ValidMetricFound',
    'ScalingLimited False DesiredWithinRange',
  ])
  expect((await api.get(HorizontalPodAutoscaler, 'test/web')).status).toMatchObject({
    currentReplicas: 4,
    desiredReplicas: 4,
    currentMetrics: [
      { type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 50, averageValue: '50m' } } },
    ],
  })
  const events = await api.list(Event, { namespace: 'test' })
  expect(events.map(({ message }) => message)).toContain(
    'New size: 4; reason: cpu resource utilization (percentage of request) above target',
  )
  // Scales down only after five minutes of low load.
  await api.patch(HorizontalPodAutoscaler, 'test/web', {
    metadata: { annotations: { [metricsAnnotation]: '{"cpu":"50m"}' } },
  })
  await plane.advance('4m')
  expect((await api.get(Deployment, 'test/web')).spec?.replicas).toBe(4)
  expect((await conditions(plane))?.[0]).toBe('AbleToScale True ScaleDownStabilized')
  await plane.advance('2m')
  expect((await api.get(Deployment, 'test/web')).spec?.replicas).toBe(1)
  expect(plane.errors()).toEqual([])
})

test('an autoscaler reports missing metrics and a missing target', async () => {
  await using plane = await startWeb(2)
  const { api } = plane
  await api.create(autoscaler())
  await plane.advance('1s')
  expect(await conditions(plane)).toEqual([
    'AbleToScale True SucceededGetScale',
    'ScalingActive False FailedGetResourceMetric',
  ])
  const { status } = await api.get(HorizontalPodAutoscaler, 'test/web')
  expect(status?.conditions?.[1]?.message).toBe(
    'the HPA was unable to compute the replica count: failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.k8s.io)',
  )
  await api.patch(HorizontalPodAutoscaler, 'test/web', { spec: { scaleTargetRef: { name: 'none' } } } as never)
  await plane.advance('1s')
  const after = (await api.get(HorizontalPodAutoscaler, 'test/web')).status?.conditions?.[0]
  expect(after).toMatchObject({
    status: 'False',
    reason: 'FailedGetScale',
    message: `the HPA controller was unable to get the target's current scale: deployments.apps "none" not found`,
  })
})

test('an autoscaler enforces its limits and ignores a target with zero replicas', async () => {
  await using plane = await startWeb(7)
  const { api } = plane
  await api.create(autoscaler('{"cpu":"50%"}'))
  await plane.settle()
  expect((await api.get(Deployment, 'test/web')).spec?.replicas).toBe(5)
  expect((await conditions(plane))?.[0]).toBe('AbleToScale True SucceededRescale')
  await api.patch(Deployment, 'test/web', { spec: { replicas: 0 } })
  await plane.advance('20s')
  expect((await api.get(Deployment, 'test/web')).spec?.replicas).toBe(0)
  expect((await conditions(plane))?.[1]).toBe('ScalingActive False ScalingDisabled')
})

test('a disruption budget counts the pods of a deployment and allows evictions until it is exhausted', async () => {
  await using plane = await startWeb(3)
  const { api } = plane
  await api.create(
    PodDisruptionBudget({ metadata: meta('web'), spec: { maxUnavailable: '50%', selector: { matchLabels } } }),
  )
  await plane.settle()
  expect((await api.get(PodDisruptionBudget, 'test/web')).status).toMatchObject({
    currentHealthy: 3,
    desiredHealthy: 1,
    disruptionsAllowed: 2,
    expectedPods: 3,
    observedGeneration: 1,
    conditions: [{ type: 'DisruptionAllowed', status: 'True', reason: 'SufficientPods' }],
  })
  const pods = await api.list(Pod, { namespace: 'test' })
  const evict = (at: number) => {
    const { name, namespace = '' } = pods[at]!.metadata
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace } }
    return api.subresource(Pod, 'eviction').create({ name, namespace }, body)
  }
  await evict(0)
  await evict(1)
  await expect(evict(2)).rejects.toThrow(/Cannot evict pod as it would violate the pod's disruption budget/)
  await plane.until(PodDisruptionBudget, 'test/web', ({ status }) => status?.disruptionsAllowed === 2)
  expect(plane.errors()).toEqual([])
})

test('a disruption budget reports pods without a scalable owner', async () => {
  await using plane = await startPlane({ controllers })
  const { api } = plane
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u', controller: true }
  const metadata = { ...meta('p'), labels: matchLabels, ownerReferences: [owner] }
  await api.create(Pod({ metadata, spec: { containers: [{ name: 'c', image: 'i' }] } }))
  await api.create(
    PodDisruptionBudget({ metadata: meta('web'), spec: { maxUnavailable: 1, selector: { matchLabels } } }),
  )
  await plane.settle()
  expect((await api.get(PodDisruptionBudget, 'test/web')).status).toMatchObject({
    disruptionsAllowed: 0,
    conditions: [{ status: 'False', reason: 'SyncFailed', message: 'found no controllers for pod "p"' }],
  })
})
