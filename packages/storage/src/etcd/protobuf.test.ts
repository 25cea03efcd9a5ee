import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ProtoMessage, ProtoReader } from './protobuf.ts'

test('ProtoMessage encodes the examples of the wire format specification', () => {
  expect(new ProtoMessage().integer(1, 150).encode()).toEqual(Buffer.from('089601', 'hex'))
  expect(new ProtoMessage().text(2, 'testing').encode()).toEqual(Buffer.from('120774657374696e67', 'hex'))
  expect(new ProtoMessage().message(3, new ProtoMessage().integer(1, 150)).encode()).toEqual(
    Buffer.from('1a03089601', 'hex'),
  )
})

test('ProtoMessage omits default values, except where presence matters', () => {
  const message = new ProtoMessage().integer(1, 0).integer(2, false).integer(3, undefined).bytes(4, new Uint8Array(0))
  expect(message.size).toBe(0)
  expect(new ProtoMessage().present(6, 0).encode()).toEqual(Buffer.from('3000', 'hex'))
  expect(new ProtoMessage().message(3, new ProtoMessage()).encode()).toEqual(Buffer.from('1a00', 'hex'))
})

test('ProtoReader decodes the output of ProtoMessage, including nested messages and unknown fields', () => {
  const number = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
  fc.assert(
    fc.property(number, fc.uint8Array({ maxLength: 300 }), fc.string({ unit: 'grapheme' }), (n, data, text) => {
      const inner = new ProtoMessage().integer(20, n).present(21, n).bytes(1, data)
      const buffer = new ProtoMessage()
        .integer(7, n)
        .message(99, inner)
        .text(5, text)
        .integer(2, n)
        .encode(3)
        .subarray(3)
      const reader = new ProtoReader(buffer)
      const seen: unknown[] = []
      for (let field = reader.next(); field !== 0; field = reader.next()) {
        if (field === 7) seen.push(reader.integer())
        else if (field === 5) seen.push(reader.text())
        else if (field === 99) {
          const nested = reader.message()
          for (let at = nested.next(); at !== 0; at = nested.next()) {
            if (at === 1) seen.push([...nested.bytes()])
            else nested.skip()
          }
        } else reader.skip()
      }
      expect(seen).toEqual([n, ...(data.length > 0 ? [[...data]] : []), ...(text === '' ? [] : [text])])
    }),
  )
})

test('ProtoReader decodes negative numbers and skips fixed-width fields', () => {
  const minusOne = '08ffffffffffffffffff01'
  const reader = new ProtoReader(Buffer.from(`${minusOne}1101020304050607081d01020304`, 'hex'))
  expect([reader.next(), reader.integer()]).toEqual([1, -1])
  for (const field of [2, 3]) {
    expect(reader.next()).toBe(field)
    reader.skip()
  }
  expect(reader.next()).toBe(0)
})

test('ProtoReader rejects truncated and malformed messages', () => {
  const read = (hex: string): void => {
    const reader = new ProtoReader(Buffer.from(hex, 'hex'))
    while (reader.next() !== 0) reader.skip()
  }
  expect(() => read('0a05616263')).toThrow('it ends within a field')
  expect(() => read('08ff')).toThrow('it ends within a field')
  expect(() => read('0b')).toThrow('wire type 3 is unknown')
  const long = new ProtoReader(Buffer.from(`08${'ff'.repeat(10)}01`, 'hex'))
  long.next()
  expect(() => long.integer()).toThrow('more than ten bytes')
})
