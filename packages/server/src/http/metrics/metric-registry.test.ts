import { describe, expect, test } from 'vitest'
import { MetricRegistry } from './metric-registry.ts'

describe('MetricRegistry', () => {
  test('writes counters with their labels, sorted by name', () => {
    const registry = new MetricRegistry()
    const b = registry.counter('b_total', 'Second.', ['code', 'path'])
    const a = registry.counter('a_total', 'First.')
    b.series(['200', '/a"b\\c\nd']).add()
    b.series(['200', '/a"b\\c\nd']).add(2)
    a.series([]).add()
    expect(registry.render()).toBe(
      '# HELP a_total First.\n# TYPE a_total counter\na_total 1\n' +
        '# HELP b_total Second.\n# TYPE b_total counter\nb_total{code="200",path="/a\\"b\\\\c\\nd"} 3\n',
    )
  })

  test('writes histograms with growing buckets', () => {
    const registry = new MetricRegistry()
    const sizes = registry.histogram('size', 'Sizes.', ['kind'], [1, 10])
    for (const value of [0.5, 1, 5, 50]) sizes.series(['x']).observe(value)
    expect(registry.render().split('\n').slice(2, -1)).toEqual([
      'size_bucket{kind="x",le="1"} 2',
      'size_bucket{kind="x",le="10"} 3',
      'size_bucket{kind="x",le="+Inf"} 4',
      'size_sum{kind="x"} 56.5',
      'size_count{kind="x"} 4',
    ])
  })

  test('reads gauges when asked', () => {
    const registry = new MetricRegistry()
    let value = 1
    registry.gauge('now', 'Now.', [], () => [[[], value]])
    value = 2
    expect(registry.render()).toContain('\nnow 2\n')
  })

  test('refuses a name that is taken', () => {
    const registry = new MetricRegistry()
    registry.counter('a', '')
    expect(() => registry.counter('a', '')).toThrow('The metric a exists already')
  })
})
