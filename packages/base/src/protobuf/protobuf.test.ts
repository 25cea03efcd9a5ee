import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ProtoMessage } from './proto-message.ts'
import { ReverseWriter } from './reverse-writer.ts'
import { ProtobufError, WireReader } from './wire-reader.ts'

const bytes = (hex: string): Buffer => Buffer.from(hex, 'hex')

describe('ProtoMessage', () => {
  test.each<[string, ProtoMessage, string]>([
    ['an integer', new ProtoMessage().integer(1, 150), '089601'],
    ['a negative integer', new ProtoMessage().integer(1, -1), '08ffffffffffffffffff01'],
    ['a large integer', new ProtoMessage().integer(1, 2n ** 63n - 1n), '08ffffffffffffffff7f'],
    ['true', new ProtoMessage().integer(4, true), '2001'],
    ['a double', new ProtoMessage().double(7, 1.5), '39000000000000f83f'],
    ['a text', new ProtoMessage().text(2, 'testing'), '120774657374696e67'],
    ['a text beyond ASCII', new ProtoMessage().text(1, 'ü'), '0a02c3bc'],
    ['a high field number', new ProtoMessage().text(31, 'x'), 'fa010178'],
    ['empty items of a repeated field', new ProtoMessage().texts(2, ['', 'a']), '1200120161'],
    ['a nested message', new ProtoMessage().message(3, new ProtoMessage().integer(1, 150)), '1a03089601'],
    ['an empty nested message', new ProtoMessage().message(3, new ProtoMessage()), '1a00'],
    ['a zero that must be present', new ProtoMessage().present(6, 0), '3000'],
    ['fields in order', new ProtoMessage().integer(2, 1).integer(1, 1), '10010801'],
  ])('encodes %s', (_, message, expected) => {
    expect(message.encode().toString('hex')).toBe(expected)
  })

  test('omits default values', () => {
    const message = new ProtoMessage()
      .integer(1, 0)
      .integer(2, false)
      .integer(3, undefined)
      .bytes(4, new Uint8Array(0))
      .text(5, '')
      .double(6, 0)
    expect(message.encode()).toHaveLength(0)
  })

  test('leaves room for a head', () => {
    expect(new ProtoMessage().integer(1, 1).encode(5).subarray(5)).toEqual(bytes('0801'))
  })
})

describe('WireReader', () => {
  test('decodes the output of ProtoMessage, including nested messages and unknown fields', () => {
    const number = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })
    fc.assert(
      fc.property(number, fc.uint8Array({ maxLength: 300 }), fc.string({ unit: 'grapheme' }), (n, data, text) => {
        const inner = new ProtoMessage().integer(20, n).present(21, n).bytes(1, data)
        const message = new ProtoMessage().integer(7, n).message(99, inner).text(5, text).double(2, n)
        const reader = new WireReader(message.encode(3).subarray(3))
        const seen: unknown[] = []
        for (let field = reader.next(); field !== 0; field = reader.next()) {
          if (field === 7) seen.push(reader.int64())
          else if (field === 5) seen.push(reader.string())
          else if (field === 99) {
            reader.message((nested) => {
              for (let at = nested.next(); at !== 0; at = nested.next()) {
                if (at === 1) seen.push([...nested.bytes()])
                else nested.skip()
              }
            })
          } else reader.skip()
        }
        expect(seen).toEqual([n, ...(data.length > 0 ? [[...data]] : []), ...(text === '' ? [] : [text])])
      }),
    )
  })

  test('message() continues behind the nested message even if `read` leaves fields unread', () => {
    const inner = new ProtoMessage().integer(1, 1).integer(2, 2)
    const reader = new WireReader(new ProtoMessage().message(1, inner).integer(3, 3).encode())
    expect(reader.next()).toBe(1)
    reader.message((nested) => nested.next())
    expect([reader.next(), reader.int64(), reader.next()]).toEqual([3, 3, 0])
  })

  test('int64() returns a bigint only where a number is not exact', () => {
    const read = (value: bigint): unknown => {
      const reader = new WireReader(new ProtoMessage().present(1, value).encode())
      reader.next()
      return reader.int64()
    }
    expect([-1n, 2n ** 53n - 1n, 2n ** 53n, -(2n ** 63n)].map(read)).toEqual([-1, 2 ** 53 - 1, 2n ** 53n, -(2n ** 63n)])
  })

  test('skips fixed-width fields and groups', () => {
    const reader = new WireReader(bytes('1101020304050607081d01020304230801242a00'))
    for (const field of [2, 3, 4]) {
      expect(reader.next()).toBe(field)
      reader.skip()
    }
    expect([reader.next(), reader.string(), reader.next()]).toEqual([5, '', 0])
  })

  test.each([
    ['0a05616263', 'unexpected EOF'],
    ['08ff', 'unexpected EOF'],
    ['0affffffff0f', 'proto: negative length found during unmarshaling'],
    ['08ffffffffffffffffffff01', 'proto: integer overflow'],
    ['0c', 'proto: unexpected end of group'],
    ['0f', 'proto: illegal wireType 7'],
  ])('rejects %s', (hex, message) => {
    const reader = new WireReader(bytes(hex))
    const read = (): void => {
      while (reader.next() !== 0) reader.skip()
    }
    expect(read).toThrow(new ProtobufError(message))
  })
})

describe('ReverseWriter', () => {
  test('writes from the end, and grows', () => {
    const writer = new ReverseWriter()
    const large = new Uint8Array(40_000).fill(7)
    writer.bytes(large)
    writer.varint(0x0a)
    writer.string('head')
    expect(writer.length).toBe(40_000 + 3 + 1 + 5)
    const out = writer.finish()
    expect(out.subarray(0, 9).toString('hex')).toBe('04686561640ac0b802')
    expect(out.subarray(9)).toEqual(Buffer.from(large))
  })

  test('does not share its buffer with a writer that started earlier', () => {
    const [first, second] = [new ReverseWriter(), new ReverseWriter()]
    first.string('a')
    second.string('b')
    expect([first.finish().toString('hex'), second.finish().toString('hex')]).toEqual(['0161', '0162'])
  })
})
