import type { Random } from '@kubewright/base'
import { configMap, type Requests } from '../../up/requests.ts'

/** A write and its outcome. */
export interface RecordedWrite {
  readonly name: string
  /** Undefined for a delete. Every value is used once. */
  readonly value: string | undefined
  /** The resource version of the response, 0 for a delete; undefined when the server was killed before it responded. */
  version: number | undefined
}

/** Writes objects of its own one after the other and records every response. */
export class RecordedWriter {
  readonly writes: RecordedWrite[] = []
  readonly mistakes: string[] = []
  readonly #path: string
  readonly #prefix: string
  readonly #random: Random
  readonly #exists = new Map<string, boolean>()
  #count = 0

  constructor(path: string, prefix: string, random: Random) {
    this.#path = path
    this.#prefix = prefix
    this.#random = random
  }

  /** Writes until the server no longer responds. */
  async run(requests: Requests): Promise<void> {
    for (;;) {
      const name = `${this.#prefix}-${this.#random.int(6)}`
      const isDelete = this.#exists.get(name) === true && this.#random.next() < 0.2
      const value = isDelete ? undefined : `${this.#prefix}.${this.#count++}`
      const write: RecordedWrite = { name, value, version: undefined }
      this.writes.push(write)
      try {
        const status = await this.#write(requests, write)
        if (status >= 500) throw new Error(`status ${status}`)
        if (status >= 300) this.mistakes.push(`${name} ${value ?? 'delete'}: status ${status}`)
      } catch {
        // Killed: the write may or may not have been made. The next run finds out.
        this.#exists.delete(name)
        return
      }
      this.#exists.set(name, !isDelete)
    }
  }

  async #write(requests: Requests, write: RecordedWrite): Promise<number> {
    const { name, value } = write
    const object = `${this.#path}/${name}`
    // After a write without a response, it is unknown whether the object exists.
    const exists = this.#exists.get(name) ?? (await requests.send('GET', object)).status === 200
    // Values of different lengths, so that a torn write would show.
    const pad = 'A'.repeat(4 * this.#random.int(500))
    const body = value === undefined ? undefined : { ...configMap(name, value), binaryData: { pad } }
    const method = value === undefined ? 'DELETE' : exists ? 'PUT' : 'POST'
    const reply = await requests.send(method, method === 'POST' ? this.#path : object, body)
    if (reply.status < 300) write.version = value === undefined ? 0 : Number(reply.body.metadata.resourceVersion)
    return reply.status
  }
}
