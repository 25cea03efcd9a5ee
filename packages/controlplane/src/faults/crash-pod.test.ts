import { VirtualClock } from '@kubewright/base'
import { Pod } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { startControlPlane } from '../host/start-control-plane.ts'

test('SimulatedNodes.crash() ends running containers, which restart with back-off', async () => {
  const clock = new VirtualClock()
  await using plane = await startControlPlane({ clock, controllers: ['serviceaccount-controller'] })
  const client = plane.client()
  await clock.advance('1s')
  const containers = ['web', 'sidecar'].map((name) => ({ name, image: 'nginx' }))
  await client.create(Pod({ metadata: { name: 'p' }, spec: { containers } }))
  const statuses = async () => {
    const { status } = await client.get(Pod, 'p')
    return (status?.containerStatuses ?? []).map(({ restartCount, lastState, state }) => ({
      restarts: restartCount,
      exitCode: lastState?.terminated?.exitCode,
      state: state?.waiting?.reason ?? Object.keys(state ?? {})[0],
    }))
  }
  await clock.advance('1s')
  const { nodes } = plane.controllers
  nodes?.crash('default/p', { container: 'web', exitCode: 137 })
  await clock.advance('1s')
  const untouched = { restarts: 0, exitCode: undefined, state: 'running' }
  expect(await statuses()).toEqual([{ restarts: 1, exitCode: 137, state: 'running' }, untouched])
  nodes?.crash('default/p', { container: 'web' })
  await clock.advance('1s')
  expect(await statuses()).toEqual([{ restarts: 1, exitCode: 1, state: 'CrashLoopBackOff' }, untouched])
  await clock.advance('10s')
  expect(await statuses()).toEqual([{ restarts: 2, exitCode: 1, state: 'running' }, untouched])
})
