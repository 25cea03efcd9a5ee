import type { Socket } from 'node:net'
import { frameHeaderBytes, writeFrameHeader } from './frames.ts'

/** The size of a block. It is not larger, because a client that does not read keeps the block of its last write in memory. */
export const blockBytes: number = 64 * 1024
/** The blocks without bytes that are kept. Further ones become garbage. */
const keptBlocks = 64

/** A piece of memory that several writes use, one after the other. */
class Block {
  readonly bytes: Buffer
  /** The bytes that were handed to sockets. */
  used = 0
  /** The writes that sockets have not completed. */
  writes = 0
  /** The callback of each write. */
  readonly written: () => void

  constructor(size: number, idle: (block: Block) => void) {
    this.bytes = Buffer.allocUnsafeSlow(size)
    this.written = () => {
      if (--this.writes > 0) return
      this.used = 0
      idle(this)
    }
  }
}

/**
 * Collects the bytes of one write after the other in memory that is used again when a socket has completed its write. With a buffer for
 * each write, the events of 1,000 watchers are megabytes of garbage per turn outside of the heap, which makes V8 collect garbage all
 * the time. A write of more than 64 KiB has memory of its own. Between {@link OutputBlocks.begin} and {@link OutputBlocks.writeTo}, the
 * caller does nothing else.
 */
export class OutputBlocks {
  readonly #idle: Block[] = []
  #block: Block
  #start = 0
  #at = 0

  constructor() {
    this.#block = this.#newBlock(blockBytes)
  }

  /** Starts over, without bytes. */
  begin(): void {
    this.#start = this.#block.used
    this.#at = this.#start
  }

  /** Whether nothing was added since the last {@link OutputBlocks.begin}. */
  get isEmpty(): boolean {
    return this.#at === this.#start
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#block.bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  /** Appends a text of ASCII characters. */
  appendText(text: string): void {
    this.#reserve(text.length)
    this.#at += this.#block.bytes.write(text, this.#at, 'latin1')
  }

  /** Appends the header of a frame of HTTP/2. */
  appendFrameHeader(type: number, flags: number, stream: number, payloadBytes: number): void {
    this.#reserve(frameHeaderBytes)
    writeFrameHeader(this.#block.bytes, this.#at, type, flags, stream, payloadBytes)
    this.#at += frameHeaderBytes
  }

  /** Writes the bytes to a socket. Returns false if the caller should wait until the socket has drained. */
  writeTo(socket: Pick<Socket, 'write'>): boolean {
    const block = this.#block
    const bytes = block.bytes.subarray(this.#start, this.#at)
    block.used = this.#at
    block.writes++
    this.#start = this.#at
    if (block.bytes.length > blockBytes) this.#block = this.#takeBlock()
    return socket.write(bytes, block.written)
  }

  #reserve(count: number): void {
    if (this.#at + count <= this.#block.bytes.length) return
    const full = this.#block
    const collected = this.#at - this.#start
    const wanted = collected + count
    this.#block = wanted > blockBytes ? this.#newBlock(wanted * 2) : this.#takeBlock()
    full.bytes.copy(this.#block.bytes, 0, this.#start, this.#at)
    this.#start = 0
    this.#at = collected
    if (full.writes === 0) this.#keep(full)
  }

  #takeBlock(): Block {
    return this.#idle.pop() ?? this.#newBlock(blockBytes)
  }

  #newBlock(size: number): Block {
    return new Block(size, (block) => {
      if (block !== this.#block) this.#keep(block)
    })
  }

  #keep(block: Block): void {
    if (block.bytes.length === blockBytes && this.#idle.length < keptBlocks) this.#idle.push(block)
  }
}
