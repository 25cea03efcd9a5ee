import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Random } from './random.ts'
import { randomSuffix, safeEncode } from './random-suffix.ts'
import { seededRandom } from './seeded-random.ts'
import { systemRandom } from './system-random.ts'
import { shortId, uuid } from './uuid.ts'

const draw = (random: Random, count = 20): number[] => Array.from({ length: count }, () => random.next())
const seeds = fc.oneof(fc.integer(), fc.double({ noNaN: true }), fc.string())

describe('seededRandom()', () => {
  test('returns the same values for the same seed on every machine', () => {
    expect(draw(seededRandom(42), 3)).toMatchInlineSnapshot(`
      [
        0.8914028631939575,
        0.49668226268640414,
        0.8029750583473123,
      ]
    `)
    expect(seededRandom('kubewright').int(1000)).toMatchInlineSnapshot(`881`)
    fc.assert(
      fc.property(seeds, (seed) => {
        expect(draw(seededRandom(seed))).toEqual(draw(seededRandom(seed)))
      }),
    )
  })

  test('returns different values for different seeds', () => {
    expect(draw(seededRandom(1))).not.toEqual(draw(seededRandom(2)))
    expect(draw(seededRandom(1))).not.toEqual(draw(seededRandom('1')))
    expect(draw(seededRandom(0))).toEqual(draw(seededRandom(-0)))
  })

  test('fork() depends on the seed and the label, not on the values drawn before', () => {
    fc.assert(
      fc.property(seeds, fc.string(), fc.nat(10), (seed, label, drawn) => {
        const used = seededRandom(seed)
        draw(used, drawn)
        expect(draw(used.fork(label))).toEqual(draw(seededRandom(seed).fork(label)))
      }),
    )
  })

  test('fork() returns streams that differ from the parent and from each other for any nesting of labels', () => {
    const root = seededRandom(7)
    const streams = [
      root,
      root.fork('a'),
      root.fork('b'),
      root.fork('a').fork('b'),
      root.fork('a/b'),
      root.fork('a/1:b'),
      root.fork(''),
    ]
    expect(new Set(streams.map((stream) => JSON.stringify(draw(stream)))).size).toBe(streams.length)
  })

  test('distributes values evenly', () => {
    const random = seededRandom('even')
    const buckets = new Array<number>(10).fill(0)
    for (let i = 0; i < 100_000; i++) {
      const bucket = Math.floor(random.next() * 10)
      buckets[bucket] = (buckets[bucket] ?? 0) + 1
    }
    // 10 standard deviations. The seed is fixed, so the outcome is deterministic.
    for (const count of buckets) expect(Math.abs(count - 10_000)).toBeLessThan(950)
  })
})

describe.each<[string, () => Random]>([
  ['seededRandom', () => seededRandom('contract')],
  ['systemRandom', () => systemRandom],
])('%s', (_, open) => {
  test('next() stays in [0, 1)', () => {
    for (const value of draw(open(), 5000)) {
      expect(value).toBeGreaterThanOrEqual(0)
      expect(value).toBeLessThan(1)
    }
  })

  test('int() stays in [0, n) for every n', () => {
    const random = open()
    fc.assert(
      fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (n) => {
        const value = random.int(n)
        return Number.isSafeInteger(value) && value >= 0 && value < n
      }),
    )
    expect(random.int(1)).toBe(0)
  })

  test.each([0, -1, 1.5, Number.NaN, 2 ** 53])('int() rejects %d', (n) => {
    expect(() => open().int(n)).toThrow(RangeError)
  })

  test('int() reaches every value', () => {
    const random = open()
    expect(new Set(Array.from({ length: 500 }, () => random.int(6))).size).toBe(6)
  })

  test('pick() returns one of the items and rejects an empty list', () => {
    const random = open()
    expect(['a', 'b', 'c']).toContain(random.pick(['a', 'b', 'c']))
    expect(() => random.pick([])).toThrow('cannot pick from an empty list')
  })

  test('shuffle() returns a permutation and does not modify the list', () => {
    const random = open()
    const items = Object.freeze(Array.from({ length: 50 }, (_, i) => i))
    const shuffled = random.shuffle(items)
    expect(shuffled).not.toEqual(items)
    expect(shuffled.sort((a, b) => a - b)).toEqual(items)
  })

  test('bytes() returns the requested number of bytes, with all values', () => {
    const random = open()
    expect(random.bytes(0).length).toBe(0)
    expect(random.bytes(5).length).toBe(5)
    expect(new Set(random.bytes(10_000)).size).toBe(256)
  })

  test('fork() returns an independent stream', () => {
    const random = open()
    expect(draw(random.fork('x'))).not.toEqual(draw(random))
  })

  test('uuid() returns a different version 4 UUID each time', () => {
    const random = open()
    const ids = Array.from({ length: 200 }, () => uuid(random))
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(new Set(ids).size).toBe(200)
  })

  test('randomSuffix() draws from the alphabet of generateName', () => {
    const random = open()
    expect(randomSuffix(random)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    expect(randomSuffix(random, 10)).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{10}$/)
    expect(new Set(randomSuffix(random, 2000)).size).toBe(27)
  })

  test('shortId() returns 8 hexadecimal digits', () => {
    const random = open()
    for (let i = 0; i < 100; i++) expect(shortId(random)).toMatch(/^[0-9a-f]{8}$/)
  })
})

test.each([
  ['', ''],
  ['0123456789', '456789bcdf'],
  ['7d9f8c', 'czf4dx'],
])('safeEncode(%j) is %j', (text, encoded) => {
  expect(safeEncode(text)).toBe(encoded)
})
