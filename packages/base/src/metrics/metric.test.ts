import { describe, expect, test } from 'vitest'
import { counter, gauge, histogram } from './metric.ts'
import { createMetricRegistry } from './metric-registry.ts'

describe('counter(), gauge() and histogram()', () => {
  test('hold measurements that every registry with them shows', () => {
    const synced = counter('synced_total', { help: 'Number of syncs.', labels: ['team'] })
    const open = gauge('open', { help: 'Number of open connections.' })
    const sizes = histogram('size', { help: 'Sizes.', labels: ['team'], buckets: [1, 2] })
    synced.inc({ team: 'a' })
    const registries = [createMetricRegistry(), createMetricRegistry()]
    for (const registry of registries) registry.include([synced, open, sizes])
    synced.inc({ team: 'a' }, 2)
    open.set(5)
    open.inc(-1)
    sizes.observe({ team: 'b' }, 1.5)
    for (const registry of registries) {
      const text = registry.text()
      expect(text).toContain('# HELP synced_total Number of syncs.\n# TYPE synced_total counter\n')
      expect(text).toContain('synced_total{team="a"} 3\n')
      expect(text).toContain('open 4\n')
      expect(text).toContain('size_bucket{team="b",le="2"} 1\n')
    }
    expect([synced.value({ team: 'a' }), synced.value({ team: 'c' }), open.value()]).toEqual([3, 0, 4])
    expect(sizes.value({ team: 'b' })).toBe(1)
    synced.remove({ team: 'a' })
    open.reset()
    expect([synced.value({ team: 'a' }), open.value()]).toEqual([0, 0])
  })

  test('reject invalid names, negative growth of counters and a second metric with a name', () => {
    const help = 'It helps.'
    expect(() => counter('a b', { help })).toThrow('Cannot define metric "a b"')
    expect(() => counter('a', { help }).inc(-1)).toThrow('Cannot add -1 to counter "a": counters only grow')
    const registry = createMetricRegistry([{ name: 'a', help, type: 'gauge' }])
    expect(() => registry.include([counter('a', { help })])).toThrow(
      'Cannot include metric "a" as that name is defined already: give it another name',
    )
  })
})
