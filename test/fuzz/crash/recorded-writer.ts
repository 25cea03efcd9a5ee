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
  /** The times of the acknowledged writes. */
  readonly acknowledgedAt: number[] = []
  readonly #path: string
  readonly #prefix: string
  readonly #random: Random
  readonly #exists = new Map<string, boolean>()
  /** The objects with a write that may still take effect, because no later write was acknowledged. */
  readonly #unsure = new Set<string>()
  #count = 0

  constructor(path: string, prefix: string, random: Random) {
    this.#path = path
    this.#prefix = prefix
    this.#random = random
  }

  /** Writes until the server no longer responds or fails, or until `isOver`. May be called again with another server. */
  async run(requests: Requests, isOver: () => boolean = () => false): Promise<void> {
    while (!isOver()) {
      const name = `${this.#prefix}-${this.#random.int(6)}`
      const isDelete = this.#exists.get(name) === true && this.#random.next() < 0.2
      const value = isDelete ? undefined : `${this.#prefix}.${this.#count++}`
      const write: RecordedWrite = { name, value, version: undefined }
      this.writes.push(write)
      try {
        const status = await this.#write(requests, write)
        if (status >= 500) throw new Error(`status ${status}`)
        // An earlier write without a response has created or deleted the object after this one looked for it.
        const isLate = this.#unsure.has(name) && (status === 404 || status === 409)
        if (isLate) {
          this.#exists.delete(name)
          continue
        }
        if (status >= 300) this.mistakes.push(`${name} ${value ?? 'delete'}: status ${status}`)
        this.acknowledgedAt.push(performance.now())
        this.#unsure.delete(name)
      } catch {
        // Killed: the write may or may not have been made. The next run finds out.
        this.#exists.delete(name)
        this.#unsure.add(name)
        return
      }
      this.#exists.set(name, !isDelete)
    }
  }

  async #find(requests: Requests, object: string): Promise<boolean> {
    const { status } = await requests.send('GET', object)
    if (status !== 200 && status !== 404) throw new Error(`status ${status}`)
    return status === 200
  }

  async #write(requests: Requests, write: RecordedWrite): Promise<number> {
    const { name, value } = write
    const object = `${this.#path}/${name}`
    // After a write without a response, it is unknown whether the object exists.
    const exists = this.#exists.get(name) ?? (await this.#find(requests, object))
    // Values of different lengths, so that a torn write would show.
    const pad = 'A'.repeat(4 * this.#random.int(500))
    const body = value === undefined ? undefined : { ...configMap(name, value), binaryData: { pad } }
    const method = value === undefined ? 'DELETE' : exists ? 'PUT' : 'POST'
    const reply = await requests.send(method, method === 'POST' ? this.#path : object, body)
    if (reply.status < 300) write.version = value === undefined ? 0 : Number(reply.body.metadata.resourceVersion)
    return reply.status
  }
}
