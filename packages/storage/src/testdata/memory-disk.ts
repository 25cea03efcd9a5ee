import type { Disk } from '../durable/disk.ts'

/** A disk in memory. `files` may be changed between two uses, to damage a store. */
export class MemoryDisk implements Disk {
  readonly files: Map<string, Buffer>
  /** The number of changes after which every further one throws, as when the process ends there. */
  crashAfter: number = Number.POSITIVE_INFINITY
  changes = 0

  constructor(files: Iterable<readonly [string, Buffer]> = []) {
    this.files = new Map(Array.from(files, ([name, data]) => [name, Buffer.from(data)]))
  }

  async list(): Promise<readonly string[]> {
    return [...this.files.keys()]
  }

  async openReader(name: string) {
    const data = this.#find(name)
    return {
      size: data.length,
      read: async (position: number, length: number) => Buffer.from(data.subarray(position, position + length)),
      [Symbol.asyncDispose]: async () => undefined,
    }
  }

  async open(name: string) {
    this.#change()
    if (!this.files.has(name)) this.files.set(name, Buffer.alloc(0))
    // The open file follows renames, as a descriptor does.
    const file = { data: this.files.get(name)! }
    const store = (data: Buffer): void => {
      this.#change()
      for (const [key, value] of this.files) if (value === file.data) this.files.set(key, data)
      file.data = data
    }
    return {
      write: async (data: Uint8Array, position: number) => {
        const grown = Buffer.alloc(Math.max(file.data.length, position + data.length))
        grown.set(file.data)
        grown.set(data, position)
        store(grown)
      },
      truncate: async (length: number) => {
        const cut = Buffer.alloc(length)
        cut.set(file.data.subarray(0, length))
        store(cut)
      },
      close: async () => undefined,
    }
  }

  async rename(from: string, to: string): Promise<void> {
    this.#change()
    this.files.set(to, this.#find(from))
    this.files.delete(from)
  }

  async remove(name: string): Promise<void> {
    this.#change()
    this.files.delete(name)
  }

  async sync(): Promise<void> {}

  #find(name: string): Buffer {
    const data = this.files.get(name)
    if (!data) throw Object.assign(new Error(`ENOENT: ${name}`), { code: 'ENOENT' })
    return data
  }

  #change(): void {
    if (this.changes >= this.crashAfter) throw new Error('crashed')
    this.changes++
  }
}
