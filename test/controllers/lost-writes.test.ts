// Every write of a scenario is lost once, before or after the server has done it: what comes of it must be the same.
import type { InProcessHandler } from '@kubewright/client'
import { builtinControllers } from '@kubewright/controllers'
import { Deployment, Job, Pod, ReplicaSet, StatefulSet } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { type Plane, startPlane } from './plane.ts'

const controllers = (pattern: RegExp) =>
  builtinControllers.filter(({ name }) => pattern.test(name)).flatMap((one) => one.controllers)

/** Loses the n-th write. */
function losing(n: number, when: 'before' | 'after') {
  let writes = 0
  const between =
    (handler: InProcessHandler): InProcessHandler =>
    async (request) => {
      if (request.method === 'GET' || request.path.includes('/events') || writes++ !== n) return handler(request)
      if (when === 'after') await handler(request)
      throw new Error('the connection was lost')
    }
  return { between, hasLost: () => writes > n }
}

/** Runs a scenario with each of its writes lost in turn, until there is none left to lose. */
async function loseEach(
  pattern: RegExp,
  when: 'before' | 'after',
  scenario: (plane: Plane) => Promise<unknown>,
): Promise<void> {
  for (let n = 0; ; n++) {
    const { between, hasLost } = losing(n, when)
    await using plane = await startPlane({ controllers: controllers(pattern), nodes: 1, between })
    await scenario(plane)
    if (!hasLost()) {
      expect(n).toBeGreaterThan(5)
      return
    }
  }
}

const meta = (name: string) => ({ name, namespace: 'test' })
const selector = { matchLabels: { app: 'web' } }
const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { containers: [{ name: 'c', image }] },
})

test.each(['before', 'after'] as const)(
  'a job counts each pod once when a write is lost %s it is done',
  async (when) => {
    await loseEach(/^job/, when, async (plane) => {
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
  'a deployment is rolled out when a write is lost %s it is done',
  async (when) => {
    await loseEach(/deployment|replicaset/, when, async ({ api, until }) => {
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

test('a stateful set never has two pods of one ordinal when a write is lost', async () => {
  await loseEach(/statefulset/, 'after', async ({ api, until }) => {
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
