import type { KubeObject } from '@kubewright/api'
import { seededRandom } from '@kubewright/base'
import type { EncodedObject } from '@kubewright/client'
import { describe, expect, test } from 'vitest'
import { encoded, objectOf } from '../testdata/fake-source.ts'
import { BytePool } from './byte-pool.ts'

/** An object of about `size` bytes. */
function sized(name: string, version: number, bytes: number): EncodedObject<KubeObject> {
  return encoded(objectOf(name, version, { labels: { padding: 'x'.repeat(bytes) } }))
}

/** The size of the place of an object. */
const placeOf = ({ size }: EncodedObject<KubeObject>): number => Math.ceil(size / 32) * 32

describe('BytePool', () => {
  test('keeps every object readable and its waste bounded under random writes', () => {
    const random = seededRandom(7)
    const pool = new BytePool()
    const held = new Map<string, EncodedObject<KubeObject>>()
    const gone: EncodedObject<KubeObject>[] = []
    for (let version = 1; version <= 20_000; version++) {
      const name = `o${random.int(400)}`
      const before = held.get(name)
      if (before !== undefined && random.next() < 0.5) {
        pool.renew(before, sized(name, version, before.size - 180 + random.int(40)))
        continue
      }
      if (before !== undefined) {
        pool.release(before)
        held.delete(name)
        if (random.next() < 0.01) gone.push(before)
      }
      if (random.next() < 0.8) {
        const object = sized(name, version, random.next() < 0.001 ? 300_000 : 200 + random.int(3000))
        pool.hold(object)
        held.set(name, object)
      }
      if (version % 500 !== 0) continue
      const live = [...held.values()].reduce((sum, object) => sum + placeOf(object), 0)
      expect(pool.live).toBe(live)
      // A quarter of waste, the rest of the current slab, and one spare slab.
      expect(pool.capacity).toBeLessThanOrEqual(live * 1.25 + 64 * 1024 + 2 * 256 * 1024)
    }
    for (const [name, object] of [...held, ...gone.map((each) => [each.key, each] as const)]) {
      const { metadata } = object.decode()
      expect([metadata.name, metadata.resourceVersion]).toEqual([name, object.resourceVersion])
    }
  })

  test('renew() puts a version of similar size in the place of the old one, and any other elsewhere', () => {
    const pool = new BytePool()
    const object = sized('a', 1, 300)
    pool.hold(object)
    pool.hold(sized('b', 1, 300))
    const { start } = object
    const steps = [sized('a', 22, 300), sized('a', 333, 900)].map((next) => {
      pool.renew(object, next)
      const { metadata } = object.decode()
      return [object.start === start, object.resourceVersion, metadata.resourceVersion]
    })
    expect(steps).toEqual([
      [true, '22', '22'],
      [false, '333', '333'],
    ])
    expect(pool.live).toBe(placeOf(object) + placeOf(sized('b', 1, 300)))
  })

  test('allocates a small slab for a few objects', () => {
    const pool = new BytePool()
    for (let i = 0; i < 5; i++) pool.hold(sized(`o${i}`, 1, 100))
    expect(pool.capacity).toBe(2 * 1024)
  })

  test('forgets objects that have left, so that their copies can be collected', () => {
    const pool = new BytePool()
    const objects = Array.from({ length: 4 }, (_, i) => sized(`o${i}`, 1, 100))
    for (const object of objects) pool.hold(object)
    const slab = objects[0]!.home as unknown as { readonly objects: ReadonlySet<unknown> }
    pool.release(objects[0]!)
    pool.discard(objects[1]!)
    expect([...slab.objects]).toEqual(objects.slice(2))
  })

  test('of() returns the pool of an object; release() gives the object a copy of its bytes', () => {
    const pool = new BytePool()
    const object = sized('a', 1, 10)
    expect(BytePool.of(object)).toBeUndefined()
    pool.hold(object)
    pool.hold(object)
    expect([BytePool.of(object), pool.live]).toEqual([pool, placeOf(object)])
    pool.release(object)
    pool.release(object)
    expect([BytePool.of(object), pool.live]).toEqual([undefined, 0])
  })
})
