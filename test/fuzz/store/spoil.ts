// Stores with one mistake each, which the checker must find.
import type { Random } from '@kubewright/base'
import type { Store } from '@kubewright/storage'
import type { Disk } from '../../../packages/storage/src/durable/disk.ts'
import { decodeFrames, encodeFrame, type WalRecord } from '../../../packages/storage/src/durable/wal-format.ts'

/** Some writes to logs return before they are on the medium. */
export function loseSyncs(disk: Disk, random: Random): Disk {
  return spoilLogs(disk, async (write, data, position) => {
    const written = write(data, position)
    if (random.int(4) > 0) await written
    else written.catch(() => undefined)
  })
}

/** Some frames of logs have two records in the wrong order, each with the revision of the other one. */
export function reorderRecords(disk: Disk, random: Random): Disk {
  return spoilLogs(disk, (write, data, position) => {
    const frame = Buffer.from(data)
    let changed = frame
    decodeFrames({ data: frame, position: 0, size: frame.length }, (records, at) => {
      const [first, second] = records
      // Later records state the revision of a creation, so a wrong one would be noticed when the log is read.
      const isCreation = ({ revision, createRevision }: WalRecord): boolean => revision === createRevision
      if (at > 0 || !first || !second || isCreation(first) || isCreation(second)) return
      if (random.int(2) === 0) return
      changed = Buffer.from(frame)
      const moved = [
        { ...second, revision: first.revision },
        { ...first, revision: second.revision },
      ]
      encodeFrame([...moved, ...records.slice(2)]).copy(changed)
    })
    return write(changed, position)
  })
}

type Write = (data: Uint8Array, position: number) => Promise<void>

function spoilLogs(disk: Disk, spoil: (write: Write, data: Uint8Array, position: number) => Promise<void>): Disk {
  return {
    ...disk,
    async open(name) {
      const file = await disk.open(name)
      if (!name.startsWith('log-')) return file
      return { ...file, write: (data, position) => spoil(file.write, data, position) }
    },
  }
}

/** A watch that resumes skips the next change, sometimes. */
export function skipOnResume(store: Store, random: Random): Store {
  return new Proxy(store, {
    get(target, property) {
      if (property === 'watch') {
        return async function* (
          request: Parameters<Store['watch']>[0],
        ): ReturnType<Store['watch']> extends AsyncIterable<infer T> ? AsyncGenerator<T> : never {
          let skips = random.int(4) === 0
          for await (const batch of target.watch(request)) {
            yield skips ? { ...batch, changes: batch.changes.slice(1) } : batch
            skips &&= batch.changes.length === 0
          }
        }
      }
      const value: unknown = Reflect.get(target, property, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
