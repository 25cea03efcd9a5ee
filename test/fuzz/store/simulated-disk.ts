// A disk with a cache that loses power. Written bytes are in the cache at once and on the medium when they are synced. At a crash, any
// part of what was not synced is on the medium: sectors of writes, sizes and names, in any combination.
import type { Clock, Random } from '@kubewright/base'
import type { Disk, DurableFile } from '../../../packages/storage/src/durable/disk.ts'

const sector = 512

type Change = { readonly at: number; readonly data: Buffer } | { readonly length: number }

/** A file apart from its names. */
class Inode {
  cache: Buffer = Buffer.alloc(0)
  medium: Buffer = Buffer.alloc(0)
  /** The changes that are not on the medium for certain, in order. */
  pending: Change[] = []

  change(change: Change): void {
    this.cache = changed(this.cache, change)
    this.pending.push(...split(change))
  }

  sync(): void {
    for (const change of this.pending) this.medium = changed(this.medium, change)
    this.pending = []
  }
}

function changed(file: Buffer, change: Change): Buffer {
  if ('length' in change) {
    const cut = Buffer.alloc(change.length)
    cut.set(file.subarray(0, change.length))
    return cut
  }
  const end = change.at + change.data.length
  const result = end > file.length ? Buffer.concat([file], end) : file
  result.set(change.data, change.at)
  return result
}

const zeros = Buffer.alloc(sector)

/** A medium writes whole sectors. Zeros, with which a log grows, count as one part. */
function split(change: Change): Change[] {
  if ('length' in change) return [change]
  const { data } = change
  const parts: Change[] = []
  for (let done = 0; done < data.length; ) {
    const sectorEnd = (from: number): number => Math.min(data.length, from + sector - ((change.at + from) % sector))
    let end = sectorEnd(done)
    const isZero = (from: number, to: number): boolean => data.compare(zeros, 0, to - from, from, to) === 0
    if (isZero(done, end)) while (end < data.length && isZero(end, sectorEnd(end))) end = sectorEnd(end)
    parts.push({ at: change.at + done, data: Buffer.from(data.subarray(done, end)) })
    done = end
  }
  return parts
}

/** A change of names; undefined removes one. */
type Naming = ReadonlyMap<string, Inode | undefined>

/** Which part of the unsynced changes survives. */
export type Survival = (changes: number) => readonly boolean[]

/** What goes wrong. */
export type DiskFault = 'none' | 'full' | 'read-only' | 'failing sync'

/** The names and files, which survive the processes that use them. */
export class SimulatedDisk {
  /** What goes wrong at present. A sync fails once. */
  fault: DiskFault = 'none'
  #names = new Map<string, Inode>()
  #mediumNames = new Map<string, Inode>()
  #pendingNames: Naming[] = []
  #process = 0
  readonly #clock: Clock
  readonly #random: Random

  constructor(clock: Clock, random: Random) {
    this.#clock = clock
    this.#random = random
  }

  /** The names of the files as a process sees them. */
  get names(): readonly string[] {
    return [...this.#names.keys()]
  }

  /** Ends the process: its calls never return, and what it has written stays in the cache. */
  kill(): void {
    this.#process++
    this.fault = 'none'
  }

  /** Ends the process and loses the cache, apart from what `survives` selects. */
  losePower(survives: Survival): void {
    this.kill()
    const kept = survives(this.#pendingNames.length)
    for (const [i, naming] of this.#pendingNames.entries()) if (kept[i]) rename(this.#mediumNames, naming)
    this.#pendingNames = []
    const files = new Set([...this.#names.values(), ...this.#mediumNames.values()])
    for (const file of files) {
      const parts = survives(file.pending.length)
      file.pending = file.pending.filter((_, i) => parts[i])
      file.sync()
      file.cache = Buffer.from(file.medium)
    }
    this.#names = new Map(this.#mediumNames)
  }

  /** The number of changes that are not on the medium for certain. */
  get unsynced(): number {
    const files = new Set([...this.#names.values(), ...this.#mediumNames.values()])
    return [...files].reduce((sum, { pending }) => sum + pending.length, this.#pendingNames.length)
  }

  /** An independent disk in the same state, with another clock if there is one. */
  copy(clock: Clock = this.#clock): SimulatedDisk {
    const copies = new Map<Inode, Inode>()
    const of = (file: Inode): Inode => {
      const known = copies.get(file)
      if (known) return known
      const made = new Inode()
      made.cache = Buffer.from(file.cache)
      made.medium = Buffer.from(file.medium)
      made.pending = [...file.pending]
      copies.set(file, made)
      return made
    }
    const copy = new SimulatedDisk(clock, this.#random)
    copy.#names = new Map([...this.#names].map(([name, file]) => [name, of(file)]))
    copy.#mediumNames = new Map([...this.#mediumNames].map(([name, file]) => [name, of(file)]))
    copy.#pendingNames = this.#pendingNames.map(
      (naming) => new Map([...naming].map(([name, file]) => [name, file && of(file)])),
    )
    return copy
  }

  /** The disk as a new process sees it. */
  start(): Disk {
    const process = this.#process
    /** Lets time pass. A call of a process that has ended never returns. */
    const turn = async (): Promise<void> => {
      if (process === this.#process) await this.#clock.sleep(0.1 + this.#random.next())
      if (process !== this.#process) await new Promise<never>(() => undefined)
    }
    const assertWritable = (): void => {
      if (this.fault === 'read-only') throw failure('EROFS')
    }
    const named = async (naming: Naming): Promise<void> => {
      rename(this.#names, naming)
      this.#pendingNames.push(naming)
    }
    const syncNames = async (): Promise<void> => {
      await turn()
      for (const naming of this.#pendingNames) rename(this.#mediumNames, naming)
      this.#pendingNames = []
    }
    const find = (name: string): Inode => {
      const file = this.#names.get(name)
      if (!file) throw failure('ENOENT')
      return file
    }
    return {
      list: async () => {
        await turn()
        return [...this.#names.keys()]
      },
      openReader: async (name) => {
        await turn()
        const data = Buffer.from(find(name).cache)
        return {
          size: data.length,
          read: async (position, length) => {
            await turn()
            return Buffer.from(data.subarray(position, position + length))
          },
          [Symbol.asyncDispose]: async () => undefined,
        }
      },
      open: async (name) => {
        await turn()
        assertWritable()
        if (!this.#names.has(name)) {
          if (this.fault === 'full') throw failure('ENOSPC')
          await named(new Map([[name, new Inode()]]))
        }
        await syncNames()
        return this.#file(find(name), turn, assertWritable)
      },
      rename: async (from, to) => {
        await turn()
        assertWritable()
        const file = find(from)
        await named(
          new Map([
            [from, undefined],
            [to, file],
          ]),
        )
        await syncNames()
      },
      remove: async (name) => {
        await turn()
        assertWritable()
        if (this.#names.has(name)) await named(new Map([[name, undefined]]))
      },
      sync: syncNames,
    }
  }

  #file(file: Inode, turn: () => Promise<void>, assertWritable: () => void): DurableFile {
    const sync = async (): Promise<void> => {
      await turn()
      if (this.fault !== 'failing sync') return file.sync()
      this.fault = 'none'
      // The system reports the failure once and then takes the pages for clean: their sectors may or may not be on the medium.
      file.pending = file.pending.filter((change) => 'length' in change || this.#random.next() < 0.5)
      file.sync()
      throw failure('EIO')
    }
    return {
      write: async (data, position) => {
        await turn()
        assertWritable()
        const grows = position + data.length > file.cache.length
        if (this.fault === 'full' && grows) {
          const room = Math.min(data.length - 1, Math.max(0, file.cache.length - position) + this.#random.int(600))
          file.change({ at: position, data: Buffer.from(data.subarray(0, room)) })
          await turn()
          throw failure('ENOSPC')
        }
        file.change({ at: position, data: Buffer.from(data) })
        await sync()
      },
      truncate: async (length) => {
        await turn()
        assertWritable()
        if (length !== file.cache.length) file.change({ length })
        await sync()
      },
      close: async () => undefined,
    }
  }
}

function rename(names: Map<string, Inode>, naming: Naming): void {
  for (const [name, file] of naming) {
    if (file) names.set(name, file)
    else names.delete(name)
  }
}

const failure = (code: string): Error => Object.assign(new Error(`${code}: simulated`), { code })

/** Nothing, everything, a beginning or any part survives, as the random source decides. */
export function randomSurvival(random: Random): Survival {
  return (changes) => {
    const kind = random.int(4)
    const prefix = random.int(changes + 1)
    return Array.from({ length: changes }, (_, i) =>
      kind === 0 ? false : kind === 1 ? true : kind === 2 ? i < prefix : random.next() < 0.5,
    )
  }
}
