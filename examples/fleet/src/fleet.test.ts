import { createClient } from 'kubewright/client'
import { ConfigMap, Secret } from 'kubewright/k8s'
import { startTestEnv, type TestEnv } from 'kubewright/testing'
import { describe, expect, test, vi } from 'vitest'
import { copied } from './notice.controller.ts'
import { Notice } from './notice.ts'
import { fleetOperator } from './operator.ts'

const labels = { 'fleet.example.com/cluster': 'yes' }
const clientOf = (env: TestEnv) => createClient({ transport: env.controlPlane.transport(), listNamespace: '' })

describe('the fleet operator', () => {
  test('copies a notice to every cluster, and removes the copies with it', async () => {
    await using east = await startTestEnv()
    await using west = await startTestEnv()
    const members: Readonly<Record<string, TestEnv>> = { east, west }
    await using env = await startTestEnv(fleetOperator({ connect: (text) => clientOf(members[text]!) }))
    for (const name of ['east', 'west']) {
      await env.client.create(Secret({ metadata: { name, labels }, stringData: { kubeconfig: name } }))
    }
    const clusters = () => [...env.manager!.clusters].map(({ name }) => name).sort()
    await vi.waitFor(() => expect(clusters()).toEqual(['east', 'west']), { timeout: 60_000 })
    await env.client.create(Notice({ metadata: { name: 'hello' }, spec: { text: 'Welcome' } }))
    const { status } = await env.until(Notice, 'hello', (notice) => notice.status?.clusters.length === 2)
    expect(status?.clusters).toEqual(['east', 'west'])
    expect((await west.client.get(ConfigMap, 'hello')).data).toEqual({ text: 'Welcome' })
    expect(copied.value({ cluster: 'east' })).toBeGreaterThan(0)
    expect(env.metrics()).toContain('fleet_notices_copied_total{cluster="west"}')
    expect((await env.request('/notices')).body).toBe('hello: east,west\n')
    expect((await env.health()).ready).toContainEqual({ name: 'notices' })

    await env.client.delete(Notice, 'hello')
    await env.gone(Notice, 'hello')
    expect(await east.client.find(ConfigMap, 'hello')).toBeUndefined()
  })
})
