import { frameHead, sealFrame } from '../etcd/grpc-frames.ts'

/** The first byte of a message from a replica to its source. */
export const fromReplica = {
  /** Asks for the newest revision: id. */
  sync: 1,
  /** Writes a key: id, expected revision, key, value. */
  put: 2,
  /** Deletes a key: id, expected revision, key. */
  delete: 3,
  /** Compacts the source: id, revision. */
  compact: 4,
} as const

/** The first byte of a message from a source to its replica. */
export const fromSource = {
  /** Starts the transfer: compacted revision. */
  begin: 1,
  /** Entries at the compacted revision. */
  entries: 2,
  /** Consecutive changes: revision of the first, then the changes. */
  changes: 3,
  /** The response to `sync` and `compact`: id, newest revision. */
  synced: 4,
  /** The response to `put` and `delete`: id, whether the condition held, revision. */
  written: 5,
  /** The request failed: id, JSON of the error. */
  failed: 6,
  /** History before the revision was compacted: revision. */
  compacted: 7,
  /** The replica has everything that the source had when the transfer began. */
  ready: 8,
} as const

/** The kinds of a change in `changes`. */
export const changeKind = {
  delete: 0,
  put: 1,
  /** A put of the replica itself, with the id of its request instead of the value. */
  own: 2,
} as const

const initialBytes = 4096

/**
 * Encodes messages one after the other into one buffer, so that all messages of a turn of the event loop are one write. Numbers are
 * little-endian; revisions are doubles, which hold every safe integer.
 */
export class MessageWriter {
  #buffer = Buffer.allocUnsafe(initialBytes)
  #length = 0
  #start = 0

  /** The encoded bytes so far. */
  get length(): number {
    return this.#length
  }

  /** The encoded bytes of the current message. */
  get messageLength(): number {
    return this.#length - this.#start
  }

  begin(type: number): this {
    this.#start = this.#length
    this.#reserve(frameHead)
    this.#length += frameHead
    return this.byte(type)
  }

  byte(value: number): this {
    this.#reserve(1)
    this.#buffer[this.#length++] = value
    return this
  }

  int(value: number): this {
    this.#reserve(4)
    this.#length = this.#buffer.writeUInt32LE(value, this.#length)
    return this
  }

  revision(value: number): this {
    this.#reserve(8)
    this.#length = this.#buffer.writeDoubleLE(value, this.#length)
    return this
  }

  /** A text of ASCII characters, such as a key. */
  key(key: string): this {
    this.int(key.length)
    this.#reserve(key.length)
    this.#length += this.#buffer.write(key, this.#length, 'latin1')
    return this
  }

  bytes(value: Uint8Array): this {
    this.int(value.length)
    this.#reserve(value.length)
    this.#buffer.set(value, this.#length)
    this.#length += value.length
    return this
  }

  /** Ends the current message. */
  end(): void {
    sealFrame(this.#buffer.subarray(this.#start, this.#length))
  }

  /** Returns all messages and starts over. The caller owns the buffer. */
  take(): Buffer {
    const messages = this.#buffer.subarray(0, this.#length)
    this.#buffer = Buffer.allocUnsafe(initialBytes)
    this.#length = 0
    this.#start = 0
    return messages
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + count))
    this.#buffer.copy(larger, 0, 0, this.#length)
    this.#buffer = larger
  }
}

/** Reads the fields of one message in the order in which they were written. */
export class MessageReader {
  readonly #message: Buffer
  #at = 0

  constructor(message: Buffer) {
    this.#message = message
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#message.length
  }

  byte(): number {
    return this.#message[this.#at++]!
  }

  int(): number {
    const value = this.#message.readUInt32LE(this.#at)
    this.#at += 4
    return value
  }

  revision(): number {
    const value = this.#message.readDoubleLE(this.#at)
    this.#at += 8
    return value
  }

  key(): string {
    const length = this.int()
    return this.#message.toString('latin1', this.#at, (this.#at += length))
  }

  /** A copy, so that a stored value does not keep the whole message in memory. */
  bytes(): Uint8Array {
    const length = this.int()
    const value = Buffer.allocUnsafeSlow(length)
    this.#message.copy(value, 0, this.#at, (this.#at += length))
    return value
  }
}
