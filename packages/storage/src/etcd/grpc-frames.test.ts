import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FrameSplitter, frameHead, sealFrame } from './grpc-frames.ts'

const frame = (payload: Uint8Array): Buffer => sealFrame(Buffer.concat([Buffer.alloc(frameHead), payload]))

test('FrameSplitter reassembles messages from chunks of any size', () => {
  const payloads = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 })
  fc.assert(
    fc.property(
      payloads,
      fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 40 }),
      (messages, cuts) => {
        const stream = Buffer.concat(messages.map(frame))
        const seen: number[][] = []
        const splitter = new FrameSplitter((message) => seen.push([...message]))
        for (let at = 0, i = 0; at < stream.length; i++) {
          const size = cuts[i % cuts.length]!
          splitter.push(stream.subarray(at, at + size))
          at += size
        }
        expect(seen).toEqual(messages.map((message) => [...message]))
      },
    ),
  )
})

test('FrameSplitter rejects a compressed message', () => {
  const splitter = new FrameSplitter(() => undefined)
  expect(() => splitter.push(Buffer.from([1, 0, 0, 0, 0]))).toThrow('it is compressed')
})
