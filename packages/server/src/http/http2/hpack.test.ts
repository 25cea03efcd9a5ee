import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { HpackDecoder } from './hpack-decoder.ts'
import { emptyTable, encodeHeaders } from './hpack-encoder.ts'

const limits = { headerBytes: 65_535, headers: 128 }
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')

describe('HpackDecoder', () => {
  test.each([
    [
      'with Huffman codes',
      '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
      '8286 84be 5886 a8eb 1064 9cbf',
      '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
    ],
    [
      'without Huffman codes',
      '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      '8286 84be 5808 6e6f 2d63 6163 6865',
      '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
    ],
  ])('decodes the requests of RFC 7541, appendix C, %s', (_, first, second, third) => {
    const decoder = new HpackDecoder(limits)
    const authority = [':authority', 'www.example.com']
    const common = [':method', 'GET', ':scheme', 'http', ':path', '/', ...authority]
    expect(decoder.decode(hex(first))).toEqual(common)
    expect(decoder.decode(hex(second))).toEqual([...common, 'cache-control', 'no-cache'])
    const last = [':method', 'GET', ':scheme', 'https', ':path', '/index.html', ...authority]
    expect(decoder.decode(hex(third))).toEqual([...last, 'custom-key', 'custom-value'])
  })

  test('evicts the oldest entries when the client shrinks its table', () => {
    const decoder = new HpackDecoder(limits)
    const entry = '4001 6101 62'
    expect(decoder.decode(hex(`${entry} be`))).toEqual(['a', 'b', 'a', 'b'])
    expect(decoder.decode(hex('20 82'))).toEqual([':method', 'GET'])
    expect(() => decoder.decode(hex('be'))).toThrow('index beyond the table')
    expect(() => decoder.decode(hex('3fe2 1f'))).toThrow('invalid change of the table size')
  })

  test('does not add an entry that is larger than the table', () => {
    const decoder = new HpackDecoder(limits)
    const long = Buffer.alloc(5000, 'x')
    // 5000 = 127 + 0x89 - 0x80 + 0x26 * 128
    const block = Buffer.concat([hex('4001 61 01 62 4001 63 7f 89 26'), long])
    expect(decoder.decode(block)).toEqual(['a', 'b', 'c', long.toString()])
    expect(() => decoder.decode(hex('be'))).toThrow('index beyond the table')
  })

  test.each([
    ['80', 'index 0'],
    ['bf', 'index beyond the table'],
    ['7fffffffffffff', 'integer too large'],
    ['4005 61', 'string beyond the block'],
    ['40', 'truncated block'],
    ['4081 ff 01 62', 'invalid Huffman code'],
    ['4001 61 84 ffffffff', 'invalid Huffman code'],
    ['4001 41 01 62', 'invalid header name'],
    ['4001 61 01 0a', 'invalid header value'],
    ['82 20', 'invalid change of the table size'],
  ])('rejects %s', (block, reason) => {
    expect(() => new HpackDecoder(limits).decode(hex(block))).toThrow(reason)
  })

  test.each([
    ['bytes', { headerBytes: 40, headers: 10 }],
    ['headers', { headerBytes: 1000, headers: 1 }],
  ])('returns no headers beyond the limit of %s but keeps its table', (_, narrow) => {
    const decoder = new HpackDecoder(narrow)
    expect(decoder.decode(hex('4001 6101 62 4001 6301 64'))).toBeUndefined()
    expect(decoder.decode(hex('be'))).toEqual(['c', 'd'])
  })
})

test('encodeHeaders() encodes what HpackDecoder decodes', () => {
  const text = fc.stringMatching(/^[\x20-\x7e]{0,200}$/)
  const name = fc.stringMatching(/^[a-z][a-z-]{0,20}$/)
  const headers = fc.dictionary(name, fc.oneof(text, fc.array(text, { maxLength: 3 })), { maxKeys: 8 })
  const decoder = new HpackDecoder(limits)
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 599 }), headers, fc.boolean(), (status, values, isFirst) => {
      const pairs = Object.entries(values).flatMap(([key, value]) => [value].flat().flatMap((one) => [key, one]))
      const block = encodeHeaders(status, values, isFirst ? emptyTable : undefined)
      expect(decoder.decode(block)).toEqual([':status', String(status), ...pairs])
    }),
  )
})
