import type { Change } from '@kubewright/storage'
import { expect, test } from 'vitest'
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
