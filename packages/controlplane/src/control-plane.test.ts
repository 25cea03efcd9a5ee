import { VirtualClock } from '@kubewright/base'
import { ConfigMap } from '@kubewright/k8s'
import { MemoryStore } from '@kubewright/storage'
import { describe, expect, test } from 'vitest'
import { controllerNames } from './choose-controllers.ts'
import { startControlPlane } from './control-plane.ts'

const bare = { controllers: 'none', nodes: 0 } as const
const config = (name: string) => ConfigMap({ metadata: { name } })

describe('startControlPlane()', () => {
  test('stops when its signal aborts, and leaves the store to the caller', async () => {
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

  test('rejects when its signal aborts while it starts: nothing is left running that nobody could stop', async () => {
    const stop = new AbortController()
    const clock = new VirtualClock()
    const starting = startControlPlane({ ...bare, clock, signal: stop.signal })
    const reason = new Error('not wanted any more')
    stop.abort(reason)
    await expect(starting).rejects.toBe(reason)
    expect(clock.pending).toEqual([])
  })

  test('runs the controllers that are named, and no others', async () => {
    await using plane = await startControlPlane({ ...bare, controllers: ['namespace-controller'] })
    expect(plane.controllers.names).toEqual(['namespace-controller'])
    expect(await controllerNames()).toContain('garbage-collector-controller')
  })

  test('refuses controllers that do not exist, with the names that were meant, before anything starts', async () => {
    const clock = new VirtualClock()
    const controllers = ['deploymnt', 'namespace-controler', 'xyz', '-garbage-collector', 'job-controller']
    const starting = startControlPlane({ clock, nodes: 0, controllers })
    await expect(starting).rejects.toMatchObject({
      code: 'KW_CONTROLLER_UNKNOWN',
      message: expect.stringMatching(
        /^controllers: there is none named "deploymnt" \(did you mean "deployment-controller"\?\), "namespace-controler" \(did you mean "namespace-controller"\?\), "xyz", "garbage-collector" \(did you mean "garbage-collector-controller"\?\); there are .*job-controller, /,
      ),
    })
    expect(clock.pending).toEqual([])
  })

  test('control planes from a snapshot share nothing, and may be disposed twice', async () => {
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
})
