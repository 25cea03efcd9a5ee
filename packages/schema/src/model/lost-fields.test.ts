import { describe, expect, test } from 'vitest'
import { s } from '../builder/s.ts'
import { lostFields } from './lost-fields.ts'

const of = (spec: { readonly json: object }): object => ({ type: 'object', properties: { spec: spec.json } })
const lost = (from: { readonly json: object }, to: { readonly json: object }): string[] =>
  lostFields(of(from), of(to)).map(({ path, types }) => (types === undefined ? path : `${path} (${types})`))

describe('lostFields()', () => {
  test('returns the highest fields that the other schema lacks, also in lists and maps', () => {
    const from = s.object({
      image: s.string(),
      tls: s.object({ secret: s.string() }),
      ports: s.array(s.object({ name: s.string(), port: s.int() })),
      sites: s.map(s.object({ host: s.string(), path: s.string() })),
    })
    const to = s.object({
      image: s.string(),
      ports: s.array(s.object({ port: s.int() })),
      sites: s.map(s.object({ host: s.string() })),
      extra: s.string(),
    })
    expect(lost(from, to)).toEqual(['spec.ports[].name', 'spec.sites{}.path', 'spec.tls'])
    expect(lost(to, from)).toEqual(['spec.extra'])
  })

  test('returns fields whose types exclude each other', () => {
    const from = s.object({ size: s.string(), port: s.intOrString(), share: s.int(), list: s.array(s.string()) })
    const to = s.object({ size: s.int(), port: s.int(), share: s.number(), list: s.string() })
    expect(lost(from, to)).toEqual([
      'spec.list (array, not string)',
      'spec.port (integer or string, not integer)',
      'spec.size (string, not integer)',
    ])
    expect(lost(to, from)).toEqual([
      'spec.list (string, not array)',
      'spec.share (number, not integer)',
      'spec.size (integer, not string)',
    ])
  })

  test('ignores descriptions, defaults, bounds and presence', () => {
    const from = s.object({ size: s.int({ minimum: 1 }).default(1), name: s.string() })
    const to = s.object({ size: s.int({ maximum: 9 }).describe('The size.'), name: s.string().optional() })
    expect(lost(from, to)).toEqual([])
    expect(lost(to, from)).toEqual([])
  })

  test('respects unknown fields that a schema preserves', () => {
    const open = s.object({ image: s.string() }, { preserveUnknownFields: true })
    const closed = s.object({ image: s.string(), size: s.int() })
    expect(lost(closed, open)).toEqual([])
    expect(lost(open, closed)).toEqual(['spec.*'])
    expect(lost(s.object({ labels: s.map(s.string()) }), s.object({ labels: s.object({ app: s.string() }) }))).toEqual([
      'spec.labels{}',
    ])
  })
})
