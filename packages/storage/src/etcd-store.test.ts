import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storageContract } from './contract.ts'
import { type EtcdStore, type EtcdStoreOptions, openEtcdStore } from './etcd-store.ts'
import type { Change, Store, WatchBatch, WriteResult } from './store.ts'
import { type EtcdProcess, noEtcd, startEtcd } from './testdata/etcd-process.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const text = (value: Uint8Array | undefined): string | undefined => value && new TextDecoder().decode(value)
const real = describe.skipIf(noEtcd !== undefined)

let etcd: EtcdProcess
let prefixes = 0
/** A store that shares the file's etcd with the other tests, but no keys. */
const open = (options: Partial<EtcdStoreOptions> = {}): Promise<EtcdStore> =>
  openEtcdStore({ endpoints: [etcd.url], keyPrefix: `/test-${++prefixes}/`, ...options })

function revisionOf(result: WriteResult): number {
  expect(result.ok).toBe(true)
  return result.revision
}

async function until(watch: AsyncIterable<WatchBatch>, enough: (batch: WatchBatch) => boolean): Promise<Change[]> {
  const changes: Change[] = []
  for await (const batch of watch) {
    changes.push(...batch.changes)
    if (enough(batch)) break
  }
  return changes
}

real(noEtcd === undefined ? 'with a real etcd' : `skipped: ${noEtcd}`, () => {
  beforeAll(async () => {
    etcd = await startEtcd()
  })
  afterAll(async () => {
    await etcd?.[Symbol.asyncDispose]()
  })

  storageContract('EtcdStore', test, open)
})
