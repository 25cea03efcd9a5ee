import { type Duration, VirtualClock } from '@kubewright/base'
import { Deployment, ReplicaSet } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import type { ControlPlane } from '../host/control-plane.ts'
import { startControlPlane } from '../host/start-control-plane.ts'

const controllers = ['deployment-controller', 'replicaset-controller', 'serviceaccount-controller']
const spec = {
  replicas: 3,
  selector: { matchLabels: { app: 'web' } },
  template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
}

/** Creates a Deployment. Returns the number of writes of the next seconds, and of pods that are ready then. */
async function rolledOut(debounce: Duration | undefined): Promise<{ readonly writes: number; readonly ready: number }> {
  const clock = new VirtualClock()
  await using plane = await startControlPlane({ clock, controllers, events: false, debounce })
  await clock.advance('1s')
  const client = plane.client()
  await client.create(Deployment({ metadata: { name: 'web' }, spec }))
  const before = await revisionOf(plane)
  await clock.advance('10s')
  const { status } = await client.get(Deployment, 'web')
  return { writes: (await revisionOf(plane)) - before, ready: status?.readyReplicas ?? 0 }
}

const revisionOf = (plane: ControlPlane): Promise<number> => plane.server.parts.registry.store.revision()

test('startControlPlane() with debounce joins the changes of a roll-out in fewer writes', async () => {
  const [direct, debounced] = [await rolledOut(undefined), await rolledOut('1ms')]
  expect([direct.ready, debounced.ready]).toEqual([3, 3])
  expect(debounced.writes).toBeLessThan(direct.writes)
})

test('startControlPlane() writes the status of a replica set when its new pods are counted', async () => {
  const clock = new VirtualClock()
  await using plane = await startControlPlane({ clock, controllers, nodes: 0 })
  await clock.advance('1s')
  const client = plane.client()
  const { store } = plane.server.parts.registry
  const counts: (number | undefined)[] = []
  void (async () => {
    for await (const { changes } of store.watch({ prefix: '/registry/replicasets/', after: await revisionOf(plane) })) {
      for (const { entry } of changes) {
        counts.push((JSON.parse(Buffer.from(entry!.value).toString()) as ReplicaSet).status?.replicas)
      }
    }
    // The store closes at the end.
  })().catch(() => undefined)
  await client.create(ReplicaSet({ metadata: { name: 'web' }, spec }))
  await clock.advance('10s')
  // Its creation, and one status.
  expect(counts).toEqual([0, 3])
})
