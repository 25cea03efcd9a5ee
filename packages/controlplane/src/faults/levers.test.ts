import { systemClock, VirtualClock } from '@kubewright/base'
import { ConfigMap, Pod } from '@kubewright/k8s'
import { expect, test } from 'vitest'
import { startControlPlane } from '../host/start-control-plane.ts'

test('ControlPlaneLevers.failWrites() fails writes of one resource, but no dry runs and no exempt clients', async () => {
  await using plane = await startControlPlane({ controllers: 'none', nodes: 0, levers: true })
  const { levers } = plane
  const client = plane.client()
  const exempt = plane.client({ isExempt: true })
  let changes = 0
  levers?.listen(() => changes++)
  levers?.failWrites({ group: '', plural: 'configmaps', status: 409, count: 2 })
  await exempt.create(ConfigMap({ metadata: { name: 'a' } }))
  await client.create(ConfigMap({ metadata: { name: 'b' } }), { dryRun: true })
  const path = '/api/v1/namespaces/default/configmaps'
  const post = client.rest.json({ method: 'POST', path, body: '{"metadata":{"name":"b"}}' })
  await expect(post).rejects.toMatchObject({
    message: 'injected fault: POST of configmaps fails with 409',
    reason: 'Conflict',
    statusCode: 409,
  })
  expect(levers?.faults).toMatchObject([{ plural: 'configmaps', status: 409, remaining: 1 }])
  levers?.disarm(levers.faults[0]?.id ?? 0)
  expect(changes).toBe(3)
  await client.create(ConfigMap({ metadata: { name: 'b' } }))
  expect(() => levers?.failWrites({ group: '', plural: 'configmaps', status: 200, count: 1 })).toThrow(
    'A write cannot fail with 200: use one of 403, 409, 429, 500, 503, 504',
  )
})

test('ControlPlaneLevers.cutWatches() breaks the watches of one resource', async () => {
  await using plane = await startControlPlane({ controllers: 'none', nodes: 0, levers: true })
  const { rest } = plane.client()
  const query = new URLSearchParams({ watch: 'true' })
  const watch = async (path: string): Promise<string> => {
    try {
      for await (const _ of await rest.stream({ method: 'GET', path, query }));
      return 'ended'
    } catch (error) {
      return String(error)
    }
  }
  const secrets = watch('/api/v1/secrets')
  const maps = watch('/api/v1/namespaces/default/configmaps')
  await expect.poll(() => plane.levers?.cutWatches({ group: '', plural: 'configmaps' })).toBe(1)
  expect(await maps).toContain('The watch was cut')
  expect(await Promise.race([secrets, systemClock.sleep(50).then(() => 'open')])).toBe('open')
})

test('ControlPlaneLevers crash pods, and advance virtual time', async () => {
  await using plane = await startControlPlane({
    clock: new VirtualClock(),
    controllers: ['serviceaccount-controller'],
    levers: true,
  })
  const { levers } = plane
  const client = plane.client()
  const start = levers?.time?.now() ?? 0
  await levers?.time?.advance(1000)
  await client.create(Pod({ metadata: { name: 'p' }, spec: { containers: [{ name: 'web', image: 'nginx' }] } }))
  await levers?.time?.advance(1000)
  levers?.crashPod?.('default/p')
  await levers?.time?.advance(1000)
  expect((await client.get(Pod, 'p')).status?.containerStatuses?.[0]?.restartCount).toBe(1)
  expect(levers?.time?.now()).toBe(start + 3000)
})
