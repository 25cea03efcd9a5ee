import type { KubeObject } from '@kubewright/api'
import { describe, expect, test } from 'vitest'
import { encoded, objectOf } from '../testdata/fake-source.ts'
import { HotObjects } from './hot-objects.ts'

const many = (count: number) => Array.from({ length: count }, (_, i) => encoded(objectOf(`o${i}`, 1)))

describe('HotObjects', () => {
  test('returns the same frozen object on consecutive reads', () => {
    const hot = new HotObjects<KubeObject>(100)
    hot.population = 1000
    const [item] = many(1)
    const first = hot.read(item!)
    expect(hot.read(item!)).toBe(first)
    expect(Object.isFrozen(first.metadata)).toBe(true)
  })

  test('parses each object once when there are few objects', () => {
    const hot = new HotObjects<KubeObject>(100)
    const items = many(50)
    hot.population = items.length
    for (let round = 0; round < 3; round++) for (const item of items) hot.read(item)
    expect(items.every((item) => item.decodes === 1)).toBe(true)
  })

  test('keeps frequently read objects during a scan, within its limits', () => {
    const hot = new HotObjects<KubeObject>(100)
    const items = many(5000)
    hot.population = items.length
    const busy = items.slice(0, 10)
    for (let round = 0; round < 2; round++) for (const item of items) hot.read(item)
    // Each object was parsed twice by now: the last ones are cached, and so are the busy ones as soon as they are read.
    for (const item of busy) hot.read(item)
    for (const item of many(5000)) hot.read(item)
    expect(busy.map((item) => item.decodes)).toEqual(busy.map(() => 3))
    for (const item of busy) hot.read(item)
    expect(busy.map((item) => item.decodes)).toEqual(busy.map(() => 3))
    expect(hot.size).toBeLessThanOrEqual(200)
  })

  test('keeps more objects when objects are parsed again soon, but not when that takes long', () => {
    const parses = (gap: number): number => {
      const hot = new HotObjects<KubeObject>(4096)
      hot.population = 10_000
      for (let round = 0; round < 3; round++) {
        const items = many(gap)
        for (const item of items) hot.read(item)
        for (const item of items) hot.read(item)
      }
      const items = many(gap)
      for (const item of items) hot.read(item)
      for (const item of items) hot.read(item)
      return Math.round(items.reduce((sum, item) => sum + item.decodes, 0) / gap)
    }
    expect([parses(64), parses(500), parses(2000)]).toEqual([1, 1, 2])
  })

  test('keeps fewer objects again when none is read twice', () => {
    const hot = new HotObjects<KubeObject>(4096)
    hot.population = 10_000
    for (let round = 0; round < 3; round++) {
      const items = many(500)
      for (const item of [...items, ...items]) hot.read(item)
    }
    const kept = hot.size
    for (const item of many(10_000)) hot.read(item)
    expect(kept - hot.size).toBeGreaterThan(800)
  })

  test('readAll() of more objects than the limit uses the cache without changing it', () => {
    const hot = new HotObjects<KubeObject>(100)
    const items = many(1000)
    hot.population = items.length
    const [busy] = items
    hot.read(busy!)
    for (let round = 0; round < 3; round++) hot.readAll(items)
    expect([busy!.decodes, items[999]!.decodes, hot.size]).toEqual([1, 3, 1])
    expect(hot.readAll(items.slice(0, 5)).map(({ metadata }) => metadata.name)).toEqual(['o0', 'o1', 'o2', 'o3', 'o4'])
    expect(hot.size).toBe(5)
  })

  test('caches nothing with a limit of zero', () => {
    const hot = new HotObjects<KubeObject>(0)
    const [item] = many(1)
    expect(hot.read(item!)).not.toBe(hot.read(item!))
    expect(hot.size).toBe(0)
  })

  test('take() removes an object from the cache', () => {
    const hot = new HotObjects<KubeObject>(100)
    const [item] = many(1)
    const object = hot.read(item!)
    expect([hot.take(item!), hot.take(item!), hot.size]).toEqual([object, undefined, 0])
  })
})
