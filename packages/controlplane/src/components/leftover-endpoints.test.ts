import { drainMicrotasks, seededRandom, VirtualClock } from '@kubewright/base'
import { Endpoints } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { startControlPlane } from '../host/start-control-plane.ts'

const drive = async <T>(clock: VirtualClock, work: Promise<T>): Promise<T> => {
  let isDone = false
  const end = (): void => {
    isDone = true
  }
  void work.then(end, end)
  while (!isDone) {
    await drainMicrotasks()
    if (!isDone) await clock.advanceToNext()
  }
  return work
}

test('the endpoints controller deletes Endpoints without a service that exist when it starts, and no later ones', async () => {
  const random = seededRandom('leftover')
  const first = new VirtualClock()
  const before = await drive(first, startControlPlane({ clock: first, random, nodes: 0, controllers: 'none' }))
  await drive(first, before.client().create(Endpoints({ metadata: { name: 'leftover', namespace: 'default' } })))
  // Earlier than the creation: the age of an object does not tell whether it existed.
  const clock = new VirtualClock({ start: first.now() - 60_000 })
  const plane = await drive(clock, before.snapshot().start({ clock, random, controllers: ['endpoints-controller'] }))
  await drive(clock, plane.client().create(Endpoints({ metadata: { name: 'of-client', namespace: 'default' } })))
  await clock.advance('10s')
  const found = await drive(clock, plane.client().list(Endpoints, { namespace: 'default' }))
  const names = found.map(({ metadata }) => metadata.name)
  expect(names).toContain('of-client')
  expect(names).not.toContain('leftover')
})
