import { expect, test } from 'vitest'
import { OutputBlocks } from './output-blocks.ts'

/** Keeps what was written, and completes writes on demand. */
class SlowSocket {
  readonly chunks: Buffer[] = []
  readonly callbacks: (() => void)[] = []

  write(chunk: Buffer, written: () => void): boolean {
    this.chunks.push(chunk)
    this.callbacks.push(written)
    return true
  }

  complete(): void {
    for (const callback of this.callbacks.splice(0)) callback()
  }
}

function send(blocks: OutputBlocks, socket: SlowSocket, ...pieces: Uint8Array[]): void {
  blocks.begin()
  for (const piece of pieces) blocks.append(piece)
  blocks.writeTo(socket as unknown as Parameters<OutputBlocks['writeTo']>[0])
}

test('OutputBlocks writes the collected pieces as one', () => {
  const blocks = new OutputBlocks()
  const socket = new SlowSocket()
  blocks.begin()
  expect(blocks.isEmpty).toBe(true)
  blocks.appendFrameHeader(0, 1, 0x01020304, 0x050607)
  blocks.appendText('5\r\n')
  blocks.append(Buffer.from('piece'))
  expect(blocks.isEmpty).toBe(false)
  blocks.writeTo(socket as unknown as Parameters<OutputBlocks['writeTo']>[0])
  expect(socket.chunks[0]?.toString('latin1')).toBe('\x05\x06\x07\x00\x01\x01\x02\x03\x045\r\npiece')
})

test('OutputBlocks does not use memory again before its write is complete', () => {
  const blocks = new OutputBlocks()
  const socket = new SlowSocket()
  // Small writes, one across the end of a block, and one that is larger than a block.
  const sizes = [10, 60_000, 10_000, 300_000, ...Array.from({ length: 200 }, (_, i) => 1000 + i)]
  for (const [i, size] of sizes.entries()) send(blocks, socket, Buffer.alloc(size / 2, i), Buffer.alloc(size / 2, i))
  for (const [i, chunk] of socket.chunks.entries()) {
    expect(chunk.length).toBe(Math.floor(sizes[i]! / 2) * 2)
    expect(chunk.every((byte) => byte === i % 256)).toBe(true)
  }
})

test('OutputBlocks uses memory again after the writes in it are complete', () => {
  const blocks = new OutputBlocks()
  const socket = new SlowSocket()
  const memory = new Set<ArrayBufferLike>()
  for (let round = 0; round < 10; round++) {
    // Four blocks at the same time.
    for (let i = 0; i < 60; i++) send(blocks, socket, Buffer.alloc(4000, i))
    for (const { buffer } of socket.chunks.splice(0)) memory.add(buffer)
    socket.complete()
  }
  expect(memory.size).toBeLessThanOrEqual(5)
})

test('OutputBlocks drops what a caller collected and did not write', () => {
  const blocks = new OutputBlocks()
  const socket = new SlowSocket()
  blocks.begin()
  blocks.append(Buffer.from('dropped'))
  send(blocks, socket, Buffer.from('sent'))
  expect(String(socket.chunks[0])).toBe('sent')
})
