import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MemoryStore } from './memory-store.ts'
import { RevisionBoard } from './revision-board.ts'

const value = new TextEncoder().encode('v')

test('RevisionBoard.read() returns a revision in the turn that publishes it', async () => {
  await using store = new MemoryStore()
  using board = RevisionBoard.follow(store)!
  expect(board.read()).toBe(1)
  const writing = store.put('/a', value, 0)
  expect(board.read()).toBe(2)
  await writing
  await store.delete('/a', 2)
  expect(board.read()).toBe(3)
})

test('RevisionBoard.read() in another process never returns a mixture of two revisions', async () => {
  await using store = new MemoryStore()
  using board = RevisionBoard.follow(store)!
  const program = join(import.meta.dirname, 'testdata', 'board-reader.ts')
  const reader = spawn(process.execPath, ['--conditions=kubewright-source', '--import', 'tsx', program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', board.descriptor],
  })
  await once(reader, 'message')
  let revision = 0
  const result = once(reader, 'message')
  for (let i = 0; reader.connected && i < 50_000; i++) {
    revision = (await store.put('/a', value, revision)).revision
    if (i % 1000 === 999) await new Promise((resolve) => setImmediate(resolve))
  }
  reader.send('end')
  const [{ reads, decreases, last }] = (await result) as [{ reads: number; decreases: number; last: number }]
  expect(reads).toBeGreaterThan(0)
  expect(decreases).toBe(0)
  expect(last).toBe(revision)
})
