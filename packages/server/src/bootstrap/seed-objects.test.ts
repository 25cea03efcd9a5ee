import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { VirtualClock } from '@kubewright/base'
import { MemoryStore } from '@kubewright/storage'
import { expect, test } from 'vitest'
import { assembleServer } from '../assemble-server.ts'
import { bootstrapImageText } from '../testdata/bootstrap-image-text.ts'

test('the bootstrap image is what the write pipeline stores: if not, run tools/generate-bootstrap-image.ts', async () => {
  const text = await bootstrapImageText()
  const file = readFileSync(join(import.meta.dirname, 'generated/bootstrap-image.ts'), 'utf8')
  expect(text === file).toBe(true)
})

interface Stored {
  readonly metadata: { readonly name: string; readonly uid: string; readonly creationTimestamp: string }
}

async function storedIn(store: MemoryStore): Promise<Map<string, Stored>> {
  const { entries } = await store.list({ prefix: '/registry/' })
  return new Map(entries.map(({ key, value }) => [key, JSON.parse(new TextDecoder().decode(value)) as Stored]))
}

test('assembleServer() gives seeded objects their own uids and the current time', async () => {
  await using store = new MemoryStore()
  const clock = new VirtualClock({ start: Date.UTC(2030, 5, 6, 7, 8, 9) })
  await using _server = await assembleServer({ store, clock })
  const objects = [...(await storedIn(store)).values()]
  expect(objects.length).toBeGreaterThan(170)
  expect(new Set(objects.map(({ metadata }) => metadata.uid)).size).toBe(objects.length)
  expect(new Set(objects.map(({ metadata }) => metadata.creationTimestamp))).toEqual(new Set(['2030-06-06T07:08:09Z']))
  expect(JSON.stringify(objects)).not.toMatch(/\\u000[12]/)
})

test('assembleServer() creates objects that are missing in a store and keeps the others', async () => {
  await using store = new MemoryStore()
  {
    await using _server = await assembleServer({ store })
  }
  const before = await storedIn(store)
  const [kept, removed] = ['/registry/clusterroles/edit', '/registry/clusterroles/admin']
  await store.delete(removed, (await store.get(removed)).entry!.modRevision)
  await using _server = await assembleServer({ store })
  const after = await storedIn(store)
  expect([...after.keys()]).toEqual([...before.keys()])
  expect(after.get(kept)).toEqual(before.get(kept))
  expect(after.get(removed)?.metadata.uid).not.toBe(before.get(removed)?.metadata.uid)
})

test('assembleServer() creates an object by the write pipeline when the store refuses the seeded one', async () => {
  await using store = new MemoryStore()
  const put = store.put.bind(store)
  let refusals = 0
  store.put = (key, value, expected) =>
    key === '/registry/namespaces/default' && refusals++ === 0
      ? Promise.reject(new Error('full'))
      : put(key, value, expected)
  await using _server = await assembleServer({ store })
  expect(refusals).toBe(2)
  expect((await storedIn(store)).get('/registry/namespaces/default')?.metadata.name).toBe('default')
})
