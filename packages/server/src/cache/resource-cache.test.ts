import type { Change } from '@kubewright/storage'
import { expect, test } from 'vitest'
import { StoredObject } from '../resource/stored-object.ts'
import { ResourceCache } from './resource-cache.ts'

function created(revision: number): Change {
  const key = `/registry/configmaps/default/m${revision}`
  const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: `m${revision}`, namespace: 'default' } }
  const entry = { key, value: Buffer.from(JSON.stringify(object)), createRevision: revision, modRevision: revision }
  return { type: 'put', key, revision, entry, previous: undefined }
}

test('ResourceCache.follow() calls the listener once for changes that are applied together, and not after its end', async () => {
  const cache = new ResourceCache('/registry/configmaps/', 1)
  const seen: number[] = []
  const unfollow = cache.follow(() => seen.push(cache.end))
  cache.apply(created(2))
  cache.apply(created(3))
  expect(seen).toEqual([])
  await Promise.resolve()
  expect(seen).toEqual([2])
  cache.apply(created(4))
  await Promise.resolve()
  expect(seen).toEqual([2, 3])
  unfollow()
  cache.apply(created(5))
  await Promise.resolve()
  expect(seen).toEqual([2, 3])
})

/** More objects than a cache checks when it is filled. Every thousandth cannot be read. */
function manyObjects(): StoredObject[] {
  return Array.from({ length: 12_000 }, (_, index) => {
    const name = `m${String(index).padStart(5, '0')}`
    const namespace = index < 6000 ? 'a' : 'b'
    const text = JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name, namespace } })
    const raw = Buffer.from(index % 1000 === 500 ? text.slice(1) : text)
    return new StoredObject(`/registry/configmaps/${namespace}/${name}`, index + 1, raw)
  })
}

const prefix = '/registry/configmaps/'

test('ResourceCache.reset() with many objects leaves their check to the first read', () => {
  const cache = new ResourceCache(prefix, 1)
  cache.reset(manyObjects(), 20_000)
  expect([cache.isChecked, cache.unreadable.size]).toEqual([false, 0])
  expect(cache.get(`${prefix}a/m00499`)?.revision).toBe(500)
  expect(cache.get(`${prefix}a/m00500`)).toBeUndefined()
  expect([...cache.unreadable.keys()]).toEqual([`${prefix}a/m00500`])
  // The scan skips the other unreadable objects.
  expect(cache.list(`${prefix}a/`)).toHaveLength(5994)
  expect(cache.count(`${prefix}a/`)).toBe(5994)
  expect(cache.unreadable.size).toBe(6)
  expect(cache.isChecked).toBe(false)
})

test('ResourceCache.check() finds all unreadable objects in steps', () => {
  const cache = new ResourceCache(prefix, 1)
  cache.reset(manyObjects(), 20_000)
  for (let steps = 0; !cache.isChecked && steps < 100; steps++) cache.check(250)
  expect([cache.isChecked, cache.unreadable.size, cache.size]).toEqual([true, 12, 11_988])
  expect(cache.list(prefix)).toHaveLength(11_988)
})

test('ResourceCache.apply() reports an object as new that replaces an unreadable one before its check', () => {
  const cache = new ResourceCache(prefix, 1)
  cache.reset(manyObjects(), 20_000)
  const key = `${prefix}a/m00500`
  const value = Buffer.from(JSON.stringify({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'm00500' } }))
  const entry = { key, value, createRevision: 501, modRevision: 20_001 }
  cache.apply({ type: 'put', key, revision: 20_001, entry, previous: undefined })
  expect(cache.eventAt(cache.end - 1)).toMatchObject({ type: 'ADDED', revision: 20_001 })
  expect([cache.get(key)?.revision, cache.unreadable.size]).toEqual([20_001, 0])
})
