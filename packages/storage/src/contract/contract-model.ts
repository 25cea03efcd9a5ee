import assert from 'node:assert/strict'
import type { Random } from '@kubewright/base'
import { append } from '@kubewright/base'
import { CompactedError } from '../store/storage-error.ts'
import type { Store } from '../store/store.ts'

interface Version {
  readonly value: string
  readonly create: number
  readonly mod: number
}

/** A reference model of a store: one copy of the whole map per revision. */
class Model {
  readonly states: Map<string, Version>[] = []
  readonly changes: { revision: number; type: 'put' | 'delete'; key: string; value: string | undefined }[] = []
  readonly start: number
  compacted: number

  constructor(start: number) {
    this.start = start
    this.compacted = start
    this.states[start] = new Map()
  }

  get revision(): number {
    return this.states.length - 1
  }

  get state(): Map<string, Version> {
    return this.states[this.revision]!
  }

  write(key: string, value: string | undefined): void {
    const next = new Map(this.state)
    const revision = this.revision + 1
    if (value === undefined) next.delete(key)
    else next.set(key, { value, create: next.get(key)?.create ?? revision, mod: revision })
    this.states.push(next)
    this.changes.push({ revision, type: value === undefined ? 'delete' : 'put', key, value })
  }
}

/** Performs random operations on the store and on the model, and fails at the first difference. */
export async function storageModelRun(store: Store, random: Random, steps: number): Promise<void> {
  const encoder = new TextEncoder()
  const decoder = new TextDecoder()
  const model = new Model(await store.revision())
  const prefixes = ['', '/a', '/a/', '/b/', '/b/1']
  const keys = ['/a', '/a/1', '/a/2', '/a/10', '/b/1', '/b/11', '/b/2']

  for (let step = 0; step < steps; step++) {
    const key = random.pick(keys)
    const current = model.state.get(key)
    const expected = random.int(4) === 0 ? random.int(model.revision + 2) : (current?.mod ?? 0)
    const holds = (current?.mod ?? 0) === expected
    const action = random.int(10)
    if (action < 4) {
      const value = `v${step}`
      const result = await store.put(key, encoder.encode(value), expected)
      assert.equal(result.ok, holds, `put ${key} expecting ${expected}`)
      if (holds) model.write(key, value)
    } else if (action < 6) {
      const result = await store.delete(key, expected)
      assert.equal(result.ok, holds && current !== undefined, `delete ${key} expecting ${expected}`)
      if (holds && current) model.write(key, undefined)
    } else if (action < 8) {
      const revision = model.start + random.int(model.revision - model.start + 1)
      const read = store.get(key, { revision })
      if (revision < model.compacted) await assert.rejects(read, CompactedError)
      else {
        const { entry } = await read
        assert.deepEqual(
          entry && { value: decoder.decode(entry.value), create: entry.createRevision, mod: entry.modRevision },
          model.states[revision]!.get(key),
          `get ${key} at ${revision}`,
        )
      }
    } else if (action < 9) {
      await checkPages(store, model, random.pick(prefixes), 1 + random.int(4), random)
    } else if (random.int(6) === 0) {
      model.compacted = Math.max(model.compacted, model.revision - random.int(10))
      await store.compact(model.compacted)
    }
    assert.equal(await store.revision(), model.revision)
  }

  // A watch replays the history since the compaction.
  const wanted = model.changes.filter((c) => c.revision > model.compacted && c.key.startsWith('/a'))
  if (wanted.length === 0) return
  const seen: typeof wanted = []
  for await (const batch of store.watch({ prefix: '/a', after: model.compacted })) {
    for (const { revision, type, key, entry } of batch.changes)
      seen.push({ revision, type, key, value: entry && decoder.decode(entry.value) })
    if (seen.length >= wanted.length) break
  }
  assert.deepEqual(seen, wanted)
}

async function checkPages(store: Store, model: Model, prefix: string, limit: number, random: Random): Promise<void> {
  const revision = model.compacted + random.int(model.revision - model.compacted + 1)
  const wanted = [...model.states[revision]!.keys()].filter((key) => key.startsWith(prefix)).sort()
  const seen: string[] = []
  let after: string | undefined
  do {
    const page = await store.list({ prefix, limit, revision, ...(after === undefined ? {} : { after }) })
    append(
      seen,
      page.entries.map((e) => e.key),
    )
    assert.equal(page.remaining, wanted.length - seen.length, `remaining after ${after} of ${prefix} at ${revision}`)
    after = page.next
  } while (after !== undefined)
  assert.deepEqual(seen, wanted, `list ${prefix} at ${revision}`)
}
