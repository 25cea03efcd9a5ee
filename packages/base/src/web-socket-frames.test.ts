import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeFrame, FrameReader, opcodes } from './web-socket-frames.ts'

describe('FrameReader', () => {
  it('decodes the output of encodeFrame(), masked or not, from chunks of any size', () => {
    const size = fc.constantFrom(0, 1, 125, 126, 300, 65_535, 65_536)
    const message = fc.record({
      size,
      mask: fc.option(fc.uint8Array({ minLength: 4, maxLength: 4 })),
      fill: fc.nat(255),
    })
    fc.assert(
      fc.property(fc.array(message, { maxLength: 3 }), fc.array(fc.nat(1000)), (messages, cuts) => {
        const payloads = messages.map(({ size, fill }) => Buffer.alloc(size, fill))
        const bytes = Buffer.concat(
          messages.map(({ mask }, index) => encodeFrame(opcodes.binary, payloads[index]!, mask ?? undefined)),
        )
        const reader = new FrameReader()
        const seen: Buffer[] = []
        let start = 0
        for (const cut of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
          for (const { payload } of reader.push(bytes.subarray(start, Math.max(start, cut)))) seen.push(payload)
          start = Math.max(start, cut)
        }
        expect(seen.map((payload) => payload.toString('hex'))).toEqual(
          payloads.map((payload) => payload.toString('hex')),
        )
      }),
      { numRuns: 50 },
    )
  })

  it('joins fragments, with control frames between them', () => {
    const first = encodeFrame(opcodes.text, Buffer.from('a'))
    first[0]! &= 0x7f
    const last = encodeFrame(opcodes.continuation, Buffer.from('b'))
    const messages = new FrameReader().push(Buffer.concat([first, encodeFrame(opcodes.ping, Buffer.from('p')), last]))
    expect(messages.map(({ opcode, payload }) => [opcode, payload.toString()])).toEqual([
      [opcodes.ping, 'p'],
      [opcodes.text, 'ab'],
    ])
  })

  it('rejects a frame that is too large before receiving it', () => {
    const header = Buffer.from([0x82, 127, 0, 0, 0, 1, 0, 0, 0, 0])
    expect(() => new FrameReader().push(header)).toThrow('a WebSocket frame of 4294967296 bytes is too large')
  })

  it('limits the size of a message in several frames', () => {
    const reader = new FrameReader()
    const part = encodeFrame(opcodes.continuation, Buffer.alloc(8 * 1024 * 1024))
    part[0]! &= 0x7f
    for (let i = 0; i < 4; i++) expect(reader.push(part)).toEqual([])
    expect(() => reader.push(part)).toThrow('a WebSocket message of more than 33554432 bytes is too large')
  })
})
