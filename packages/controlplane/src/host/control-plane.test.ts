import { VirtualClock } from '@kubewright/base'
import { type ProcessHost, systemProcessHost } from '@kubewright/controllers'
import { ConfigMap, Pod, ServiceAccount } from '@kubewright/k8s'
import { MemoryStore } from '@kubewright/storage'
import { describe, expect, test } from 'vitest'
import { controllerNames } from '../components/choose-controllers.ts'
import { startControlPlane } from './start-control-plane.ts'

const bare = { controllers: 'none', nodes: 0 } as const
const all = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' } as const

const config = (name: string) => ConfigMap({ metadata: { name } })

describe('startControlPlane()', () => {
  test('stops when its signal aborts, and leaves the store of the caller open', async () => {
    await using store = new MemoryStore()
    const stop = new AbortController()
    const plane = await startControlPlane({ ...bare, store, signal: stop.signal })
    await plane.client().create(config('kept'))
    stop.abort()
    await plane[Symbol.asyncDispose]()
    expect(() => plane.client()).toThrow('disposed')
    await using again = await startControlPlane({ ...bare, store })
    expect((await again.client().get(ConfigMap, 'kept')).metadata.name).toBe('kept')
  })

  test('rejects and stops everything when its signal aborts during the start', async () => {
    const stop = new AbortController()
    const clock = new VirtualClock()
    const starting = startControlPlane({ ...bare, clock, signal: stop.signal })
    const reason = new Error('no longer needed')
    stop.abort(reason)
    await expect(starting).rejects.toBe(reason)
    expect(clock.pending).toEqual([])
  })

  test('lets timers fire while clients send requests without a pause', async () => {
    await using plane = await startControlPlane(bare)
    const client = plane.client()
    let isOver = false
    const timer = setTimeout(() => (isOver = true), 1)
    for (let i = 0; i < 20_000 && !isOver; i++) await client.find(ConfigMap, 'none')
    clearTimeout(timer)
    expect(isOver).toBe(true)
  })

  test('disposal ends the watches of transports that callers left open', async () => {
    const plane = await startControlPlane(bare)
    const response = await plane.transport().send({ method: 'GET', path: '/api/v1/configmaps?watch=true' })
    const reading = (async () => {
      for await (const _ of response.body);
    })()
    await plane[Symbol.asyncDispose]()
    await expect(reading).rejects.toThrow('the transport is closed')
  })

  test('passes every transport, including that of the built-in controllers, to intercept', async () => {
    const users: string[] = []
    await using plane = await startControlPlane({
      controllers: ['namespace-controller'],
      nodes: 0,
      intercept: (transport, { name }) => {
        users.push(name)
        return transport
      },
    })
    plane.transport({ name: 'ada' })
    expect(users).toEqual(['system:kube-controller-manager', 'ada'])
  })

  test('runs only the named controllers', async () => {
    await using plane = await startControlPlane({ ...bare, controllers: ['namespace-controller'] })
    expect(plane.controllers.names).toEqual(['namespace-controller'])
    expect(await controllerNames()).toContain('garbage-collector-controller')
  })

  test('rejects unknown controllers with suggestions before anything starts', async () => {
    const clock = new VirtualClock()
    const controllers = ['deploymnt', 'namespace-controler', 'xyz', '-garbage-collector', 'job-controller']
    const starting = startControlPlane({ clock, nodes: 0, controllers })
    await expect(starting).rejects.toMatchObject({
      code: 'KW_CONTROLLER_UNKNOWN',
      message: expect.stringMatching(
        /^controllers: unknown controller "deploymnt" \(did you mean "deployment-controller"\?\), "namespace-controler" \(did you mean "namespace-controller"\?\), "xyz", "garbage-collector" \(did you mean "garbage-collector-controller"\?\); known controllers are .*job-controller, /,
      ),
    })
    expect(clock.pending).toEqual([])
  })

  test('stops the processes of its pods when it stops', async () => {
    const exits: Promise<number>[] = []
    const system = systemProcessHost()
    const processes: ProcessHost = {
      start: (spec) => {
        const started = system.start(spec)
        exits.push(started.exited)
        return started
      },
    }
    const controllers = ['serviceaccount-controller']
    const plane = await startControlPlane({ controllers, nodes: { nodes: 1, processes } })
    const client = plane.client()
    const command = [process.execPath, '-e', 'setInterval(() => {}, 1000)']
    for await (const event of await client.watch(ServiceAccount, all)) {
      if (event.type !== 'BOOKMARK' && event.object.metadata.name === 'default') break
    }
    await client.create(
      Pod({
        metadata: { name: 'p', annotations: { 'kubewright.dev/process': 'true' } },
        spec: { containers: [{ name: 'c', image: 'node', command }] },
      }),
    )
    for await (const event of await client.watch(Pod, all)) {
      if (event.type !== 'BOOKMARK' && event.object.status?.phase === 'Running') break
    }
    expect(exits).toHaveLength(1)
    await plane[Symbol.asyncDispose]()
    // The process received SIGTERM; without it, this promise would never resolve.
    expect(await exits[0]).toBe(143)
  })

  test('control planes from a snapshot are independent and can be disposed twice', async () => {
    await using plane = await startControlPlane(bare)
    await plane.client().create(config('before'))
    await using snapshot = plane.snapshot()
    await plane.client().create(config('after'))
    const first = await snapshot.start()
    await using second = await snapshot.start()
    await first.client().create(config('mine'))
    const names = (await second.client().list(ConfigMap)).map(({ metadata }) => metadata.name)
    expect(names.filter((name) => name !== 'kube-root-ca.crt')).toEqual(['before'])
    await first[Symbol.asyncDispose]()
    await first[Symbol.asyncDispose]()
  })

  test('a control plane from a snapshot writes no bootstrap objects', async () => {
    await using plane = await startControlPlane(bare)
    await using snapshot = plane.snapshot()
    const revision = await plane.server.parts.registry.store.revision()
    await using started = await snapshot.start({ controllers: 'none', nodes: 0 })
    expect(await started.server.parts.registry.store.revision()).toBe(revision)
    expect(await started.client().list(ConfigMap)).toEqual(await plane.client().list(ConfigMap))
  })
})
