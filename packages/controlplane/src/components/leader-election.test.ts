import { memoryLogger } from '@kubewright/base'
import { Deployment, Lease, Pod } from '@kubewright/k8s'
import { MemoryStore } from '@kubewright/storage'
import { describe, expect, test } from 'vitest'
import type { PlaneConfig } from '../config/plane-config.ts'
import type { ControlPlane } from '../host/control-plane.ts'
import { startControlPlane } from '../host/start-control-plane.ts'

const components = ['kube-controller-manager', 'kube-scheduler', 'kubewright-nodes']
/** Short, so that the expiry of a Lease does not take long. */
const timing = { leaseDuration: '2s', renewDeadline: '1s', retryPeriod: '200ms' } as const

const start = (store: MemoryStore, options: PlaneConfig = {}): Promise<ControlPlane> =>
  startControlPlane({ store, leaderElection: timing, nodes: 2, ...options })

const leads = ({ controllers }: ControlPlane): boolean[] => components.map((name) => controllers.leads?.(name) ?? false)
const leadsAll = (plane: ControlPlane): boolean => leads(plane).every(Boolean)

const deployment = (name: string, replicas: number) =>
  Deployment({
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  })

const readyPods = async (plane: ControlPlane): Promise<number> =>
  (await plane.client().list(Pod, { namespace: 'default' })).filter((pod) => pod.status?.phase === 'Running').length

describe('startControlPlane() with leader election', () => {
  test('runs each component on one server at a time, so that each replica is created once', async () => {
    await using store = new MemoryStore()
    await using one = await start(store, { leaderElection: true })
    await expect.poll(() => leadsAll(one)).toBe(true)
    await using two = await start(store, { leaderElection: true })
    const pods = new Set<string>()
    const stop = new AbortController()
    const watching = (async () => {
      const watch = await two.client().watch(Pod, { namespace: 'default', signal: stop.signal })
      for await (const event of watch) if (event.type === 'ADDED') pods.add(event.object.metadata.name)
    })().catch(() => undefined)
    await two.client().create(deployment('web', 20))
    await expect.poll(() => readyPods(two)).toBe(20)
    expect(leads(two)).toEqual([false, false, false])
    stop.abort()
    await watching
    expect(pods.size).toBe(20)
    const leases = await two.client().list(Lease, { namespace: 'kube-system' })
    expect(leases.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(components))
  })

  test('hands over to another server when the leader is disposed', async () => {
    await using store = new MemoryStore()
    const one = await start(store, { leaderElection: true })
    await expect.poll(() => leadsAll(one)).toBe(true)
    await using two = await start(store, { leaderElection: true })
    await one[Symbol.asyncDispose]()
    // The default lease lasts 15 seconds: less time shows that the lease was released.
    await expect.poll(() => leadsAll(two)).toBe(true)
    await two.client().create(deployment('web', 3))
    await expect.poll(() => readyPods(two)).toBe(3)
  })

  test('starts again as a candidate after it has lost a lease', async () => {
    await using store = new MemoryStore()
    const log = memoryLogger()
    await using one = await start(store, { log })
    await expect.poll(() => leadsAll(one)).toBe(true)
    const client = one.client()
    const key = { namespace: 'kube-system', name: 'kube-controller-manager' }
    await client.patch(Lease, key, { spec: { holderIdentity: 'another', leaseDurationSeconds: 2 } })
    await expect.poll(() => leads(one)[0]).toBe(false)
    await expect.poll(() => leadsAll(one)).toBe(true)
    expect(log.records.map(({ message }) => message)).toContain('Lost the lease; campaigning again')
    await client.create(deployment('web', 3))
    await expect.poll(() => readyPods(one)).toBe(3)
  })

  test('writes no Lease and runs everything when the store is not shared', async () => {
    await using plane = await startControlPlane({ nodes: 1 })
    expect(plane.controllers.leads).toBeUndefined()
    expect(await plane.client().list(Lease, { namespace: 'kube-system' })).toEqual([])
  })
})
