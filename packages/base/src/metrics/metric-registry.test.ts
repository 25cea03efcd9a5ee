import { describe, expect, test } from 'vitest'
import { exponentialBuckets, type MetricDefinition } from './metric-definition.ts'
import { createMetricRegistry } from './metric-registry.ts'

const requests: MetricDefinition = {
  name: 'requests_total',
  type: 'counter',
  help: 'Requests "seen",\nall of them.',
  labels: ['code', 'path'],
}
const latency: MetricDefinition = {
  name: 'latency_seconds',
  type: 'histogram',
  help: 'Latency.',
  labels: ['path'],
  buckets: [0.1, 1],
}

describe('MetricRegistry', () => {
  test('writes counters, gauges and histograms by name, with cumulative buckets', () => {
    const registry = createMetricRegistry([requests, latency])
    const labels = Object.freeze({ path: '/a', code: '200' })
    registry.add('requests_total', labels, 1)
    registry.add('requests_total', labels, 2)
    registry.set('depth', {}, 4)
    for (const value of [0.05, 0.1, 0.5, 7]) registry.observe('latency_seconds', { path: '/a' }, value)
    expect(registry.text()).toBe(`# TYPE depth gauge
depth 4
# HELP latency_seconds Latency.
# TYPE latency_seconds histogram
latency_seconds_bucket{path="/a",le="0.1"} 2
latency_seconds_bucket{path="/a",le="1"} 3
latency_seconds_bucket{path="/a",le="+Inf"} 4
latency_seconds_sum{path="/a"} 7.65
latency_seconds_count{path="/a"} 4
# HELP requests_total Requests "seen",\\nall of them.
# TYPE requests_total counter
requests_total{code="200",path="/a"} 3
`)
  })

  test('writes OpenMetrics when asked: families without _total, and an end', () => {
    const registry = createMetricRegistry([requests])
    registry.add('requests_total', { code: '200', path: '/' }, 1)
    expect(registry.text('openmetrics')).toBe(`# HELP requests Requests \\"seen\\",\\nall of them.
# TYPE requests counter
requests_total{code="200",path="/"} 1
# EOF
`)
  })

  test('treats equal labels in different objects as one series, and shows absent ones as empty', () => {
    const registry = createMetricRegistry([requests])
    registry.add('requests_total', { code: '200' }, 1)
    registry.add('requests_total', { code: '200', path: '' }, 1)
    expect(registry.text()).toContain('\nrequests_total{code="200",path=""} 2\n')
  })

  test('escapes the values of labels', () => {
    const registry = createMetricRegistry()
    registry.add('a_total', { text: 'a "b"\\\n' }, 1)
    expect(registry.text()).toContain(String.raw`a_total{text="a \"b\"\\\n"} 1`)
  })

  test('shows an initialised series at zero, and not a removed one', () => {
    const registry = createMetricRegistry([requests])
    const labels = { code: '500', path: '/' }
    registry.initialise('requests_total', labels)
    expect(registry.text()).toContain('requests_total{code="500",path="/"} 0')
    registry.remove('requests_total', { ...labels })
    expect(registry.text()).toBe('')
    registry.add('requests_total', labels, 1)
    expect(registry.text()).toContain('requests_total{code="500",path="/"} 1')
  })

  test('clear() removes all series of a metric', () => {
    const registry = createMetricRegistry([requests])
    const labels = Object.freeze({ code: '500', path: '/' })
    registry.add('requests_total', labels, 3)
    registry.set('depth', {}, 1)
    registry.clear('requests_total')
    expect(registry.text()).toBe('# TYPE depth gauge\ndepth 1\n')
    registry.add('requests_total', labels, 1)
    expect(registry.text()).toContain('requests_total{code="500",path="/"} 1')
  })

  test('calls collectors before each exposition until they are disposed', () => {
    const registry = createMetricRegistry()
    let calls = 0
    const collector = registry.beforeEach(() => registry.set('calls', {}, ++calls))
    expect(registry.text()).toContain('calls 1')
    expect(registry.text()).toContain('calls 2')
    collector[Symbol.dispose]()
    expect(registry.text()).toContain('calls 2')
  })

  test('refuses definitions that clash or cannot be shown', () => {
    const registry = createMetricRegistry([requests])
    registry.define([{ ...requests, help: 'another text' }])
    expect(() => registry.define([{ ...requests, labels: ['code'] }])).toThrow(
      'Cannot define metric "requests_total" as it is defined already with another type, labels or buckets',
    )
    expect(() => registry.define([{ ...requests, name: 'a-b' }])).toThrow('Cannot define metric "a-b"')
    expect(() => registry.define([{ ...latency, name: 'b', labels: ['le'] }])).toThrow('"le" is not a valid label name')
    expect(() => registry.define([{ ...latency, name: 'b', buckets: [1, 1] }])).toThrow(
      'its buckets must be in ascending order',
    )
  })

  test('writes bounds as Go does', () => {
    const registry = createMetricRegistry([{ ...latency, buckets: exponentialBuckets(10e-9, 10, 12) }])
    registry.observe('latency_seconds', { path: '' }, 1_500_000)
    const bounds = [...registry.text().matchAll(/le="([^"]*)"/g)].map(([, bound]) => bound)
    expect(bounds.slice(0, 6)).toEqual([
      '1e-08',
      '1e-07',
      '1e-06',
      '9.999999999999999e-06',
      '9.999999999999999e-05',
      '0.001',
    ])
    expect(registry.text()).toContain('latency_seconds_sum{path=""} 1.5e+06')
  })
})

describe('MetricRegistry with many labels', () => {
  test('folds series beyond the limit of the metric into one', () => {
    const registry = createMetricRegistry([{ ...requests, help: '', maxSeries: 2 }])
    for (let i = 0; i < 5; i++) registry.add('requests_total', { code: '200', path: `/${i}` }, 1)
    registry.add('requests_total', { code: '200', path: '/1' }, 1)
    expect(registry.text()).toBe(`# TYPE requests_total counter
requests_total{code="200",path="/0"} 1
requests_total{code="200",path="/1"} 2
requests_total{code="other",path="other"} 3
`)
  })

  test('bounds the series of every metric, and writes them without spreading them', () => {
    const registry = createMetricRegistry([latency])
    for (let i = 0; i < 200_000; i++) registry.observe('latency_seconds', { path: `/${i}` }, 1)
    const lines = registry.text().split('\n')
    expect(lines.filter((line) => line.startsWith('latency_seconds_count'))).toHaveLength(20_001)
    expect(lines).toContain('latency_seconds_count{path="other"} 180000')
  })
})
