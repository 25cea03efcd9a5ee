import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DurableStore, openDurableStore } from '@kubewright/storage'
import { type Disk, nodeDisk } from '../packages/storage/src/durable/disk.ts'
import { frameBytes, frameEntries } from '../packages/storage/src/durable/state-file.ts'
import { encodeFrame } from '../packages/storage/src/durable/wal-format.ts'
import { Mvcc } from '../packages/storage/src/memory/mvcc.ts'
import type { Suite } from './harness.ts'

const value = new Uint8Array(1200).fill(0x61)
const keyCount = 100_000
const keyOf = (i: number): string => `/registry/configmaps/ns-${i % 100}/map-${i}`

/** Counts what a store writes. */
interface Written {
  appends: number
  logBytes: number
  snapshotBytes: number
}

async function countingDisk(folder: string, written: Written): Promise<Disk> {
  const disk = await nodeDisk(folder)
  return {
    ...disk,
    async open(name) {
      const file = await disk.open(name)
      const isLog = name.startsWith('log')
      return {
        write(data, position) {
          written[isLog ? 'logBytes' : 'snapshotBytes'] += data.length
          if (isLog) written.appends++
          return file.write(data, position)
        },
        truncate: (length) => file.truncate(length),
        close: () => file.close(),
      }
    },
  }
}

const cpuMillis = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** The longest step of a snapshot, in milliseconds. The best of several rounds counts for each step, as other load disturbs it. */
function longestStep(): number {
  const mvcc = new Mvcc()
  for (let i = 0; i < keyCount; i++) mvcc.publish({ key: keyOf(i), value })
  const best: number[] = []
  for (let round = 0; round < 9; round++) {
    const frozen = mvcc.freeze()
    for (let step = 0, isDone = false; !isDone; step++) {
      const start = performance.now()
      const entries = frozen.next(frameEntries, frameBytes)
      encodeFrame(entries.map((e) => ({ ...e, type: 'put', revision: e.modRevision })))
      best[step] = Math.min(best[step] ?? Number.POSITIVE_INFINITY, performance.now() - start)
      isDone = entries.length === 0
    }
    frozen[Symbol.dispose]()
  }
  return best.reduce((longest, one) => Math.max(longest, one), 0)
}

/** Replaces keys with a number of writers at once. */
async function replace(store: DurableStore, writers: number, writes: number): Promise<void> {
  let next = 0
  const writer = async (): Promise<void> => {
    while (next < writes) {
      const key = keyOf(next++ % keyCount)
      await store.put(key, value, (await store.get(key)).entry!.modRevision)
    }
  }
  await Promise.all(Array.from({ length: writers }, writer))
}

const ratio = (a: number, b: number): string => (a / b).toFixed(2)

async function report(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'kubewright-durability-'))
  try {
    const written: Written = { appends: 0, logBytes: 0, snapshotBytes: 0 }
    const disk = await countingDisk(folder, written)
    const lines = ['| work | result | aim |', '|---|--:|--:|']
    {
      const store = await openDurableStore(folder, { disk, snapshotBytes: Number.MAX_SAFE_INTEGER })
      for (let i = 0; i < keyCount; i += 2000)
        await Promise.all(Array.from({ length: 2000 }, (_, j) => store.put(keyOf(i + j), value, 0)))
      for (const writers of [1, 16, 256]) {
        const before = { ...written }
        const writes = Math.min(10_000, writers * 1000)
        const cpu = cpuMillis()
        await replace(store, writers, writes)
        const micros = ((cpuMillis() - cpu) * 1000) / writes
        const perAppend = (writes / (written.appends - before.appends)).toFixed(1)
        const amplification = ratio(written.logBytes - before.logBytes, writes * value.length)
        lines.push(
          `| ${writers} ${writers === 1 ? 'writer' : 'writers'}: writes per sync of the disk | ${perAppend} | |`,
        )
        lines.push(`| ${writers} ${writers === 1 ? 'writer' : 'writers'}: CPU per write | ${micros.toFixed(1)} µs | |`)
        lines.push(
          `| ${writers} ${writers === 1 ? 'writer' : 'writers'}: bytes written per byte of values, without snapshots | ${amplification} | |`,
        )
      }
      await store[Symbol.asyncDispose]()
    }
    let cpu = cpuMillis()
    const store = await openDurableStore(folder, { disk })
    lines.push(
      `| open ${keyCount} keys from a log of ${Math.round(written.logBytes / 2 ** 20)} MiB, CPU | ${Math.round(cpuMillis() - cpu)} ms | |`,
    )
    {
      // The log is too long, so this replaces it by a snapshot.
      const before = { ...written }
      await replace(store, 16, 2000)
      await store[Symbol.asyncDispose]()
      const snapshot = written.snapshotBytes - before.snapshotBytes
      // The next snapshot is written when the log is as large as this one.
      const perLog = (snapshot * value.length) / (value.length + 60)
      const title = `bytes written per byte of values, with snapshots of ${Math.round(snapshot / 2 ** 20)} MiB`
      lines.push(`| ${title} | ${ratio(2 * snapshot, perLog)} | |`)
      cpu = cpuMillis()
      await (await openDurableStore(folder, { disk }))[Symbol.asyncDispose]()
      lines.push(`| open ${keyCount} keys from a snapshot, CPU | ${Math.round(cpuMillis() - cpu)} ms | |`)
    }
    lines.push(
      `| longest computation of a snapshot of ${keyCount} keys between two writes | ${longestStep().toFixed(2)} ms | 5 ms |`,
    )
    return lines
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

export const suite: Suite = {
  title: 'Durability',
  about: `The durable store with ${keyCount} keys and values of 1,200 bytes. Times are CPU times, so that they do not depend on the disk. When a log is replaced, writers wait for two accesses to the disk; the snapshot is written in steps of at most 1,000 entries or 256 KiB, between which writes continue.`,
  report,
}
