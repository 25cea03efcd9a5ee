// Every write of a scenario is lost once, before or after the server executed it. The outcome must be the same.
import { Deployment, Job, Pod, ReplicaSet, StatefulSet } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { loseEachWrite } from './lose-each-write.ts'

const meta = (name: string) => ({ name, namespace: 'test' })
const selector = { matchLabels: { app: 'web' } }
const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image }] },
})

test.each(['before', 'after'] as const)(
  'a job counts each pod once when a write is lost %s its execution',
  async (when) => {
    await loseEachWrite(/^job/, when, async (plane) => {
      const pods = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'c', image: 'x' }] } }
      await plane.api.create(Job({ metadata: meta('job'), spec: { completions: 2, parallelism: 2, template: pods } }))
      const job = await plane.until(Job, 'test/job', ({ status }) => status?.completionTime !== undefined)
      expect(job.status).toMatchObject({ succeeded: 2, uncountedTerminatedPods: {} })
      expect(job.status?.failed).toBeUndefined()
      const left = await plane.api.list(Pod, { namespace: 'test' })
      expect(left.map(({ metadata, status }) => [status?.phase, metadata.finalizers])).toEqual(
        Array(2).fill(['Succeeded', undefined]),
      )
    })
  },
  120_000,
)

test.each(['before', 'after'] as const)(
  'a deployment is rolled out when a write is lost %s its execution',
  async (when) => {
    await loseEachWrite(/deployment|replicaset/, when, async ({ api, until }) => {
      await api.create(Deployment({ metadata: meta('web'), spec: { replicas: 1, selector, template: template('a') } }))
      await until(Deployment, 'test/web', ({ status }) => status?.availableReplicas === 1)
      await api.patch(Deployment, 'test/web', { spec: { template: template('b') } })
      const done = await until(
        Deployment,
        'test/web',
        ({ metadata, status }) =>
          status?.observedGeneration === 2 &&
          status.updatedReplicas === 1 &&
          status.replicas === 1 &&
          status.availableReplicas === 1 &&
          metadata.annotations?.['deployment.kubernetes.io/revision'] === '2',
      )
      expect(done.status?.collisionCount).toBeUndefined()
      const sets = await api.list(ReplicaSet, { namespace: 'test' })
      expect(sets.map(({ spec }) => spec.replicas).sort()).toEqual([0, 1])
    })
  },
  120_000,
)

test('a stateful set never has two pods with the same ordinal when a write is lost', async () => {
  await loseEachWrite(/statefulset/, 'after', async ({ api, until }) => {
    const spec = { replicas: 2, serviceName: 'db', selector, template: template('a') }
    await api.create(StatefulSet({ metadata: meta('db'), spec }))
    const set = await until(
      StatefulSet,
      'test/db',
      ({ status }) => status?.readyReplicas === 2 && status.currentReplicas === 2,
    )
    expect(set.status).toMatchObject({ replicas: 2, collisionCount: 0 })
  })
}, 120_000)
