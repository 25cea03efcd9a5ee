import { createMetricRegistry, measureProcess, VirtualClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { metricsHandler } from '../../serving/metrics-handler.ts'
import { measureRequests } from './measure-requests.ts'
import { restClientDetailMetrics, restClientMetrics } from './runtime-metrics.ts'

const attempt = { method: 'GET', path: '/api', host: 'https://h:6443', attempt: 1, durationMillis: 20, requestBytes: 0 }

describe('measureRequests()', () => {
  test('counts attempts by code, method and host, with code <error> when there was no response', () => {
    const registry = createMetricRegistry(restClientMetrics)
    const onResponse = measureRequests(registry)
    onResponse({ ...attempt, status: 200 })
    onResponse({ ...attempt, status: 200 })
    onResponse({ ...attempt, status: undefined })
    expect(registry.text()).toContain('rest_client_requests_total{code="200",method="GET",host="h:6443"} 2')
    expect(registry.text()).toContain('rest_client_requests_total{code="<error>",method="GET",host="h:6443"} 1')
    expect(registry.text()).not.toContain('duration')
  })

  test('measures durations, sizes and retries with details', () => {
    const registry = createMetricRegistry([...restClientMetrics, ...restClientDetailMetrics])
    const onResponse = measureRequests(registry, { details: true })
    onResponse({ ...attempt, status: 503 })
    onResponse({ ...attempt, attempt: 2, status: 200, requestBytes: 100 })
    const text = registry.text()
    expect(text).toContain('rest_client_request_duration_seconds_bucket{verb="GET",host="h:6443",le="0.025"} 2')
    expect(text).toContain('rest_client_request_size_bytes_bucket{verb="GET",host="h:6443",le="256"} 2')
    expect(text).toContain('rest_client_request_retries_total{code="200",verb="GET",host="h:6443"} 1')
  })
})

describe('measureProcess()', () => {
  test('reads the process at each exposition and cancels its timer when disposed', async () => {
    const clock = new VirtualClock()
    const registry = createMetricRegistry()
    let user = 1e6
    const measured = measureProcess(registry, {
      clock,
      startedAt: 5000,
      process: {
        version: 'v20.19.0',
        cpuUsage: () => ({ user, system: 500_000 }),
        memoryUsage: () => ({ rss: 7, heapTotal: 6, heapUsed: 5, external: 4 }),
      },
    })
    expect(registry.text()).toContain('process_cpu_seconds_total 1.5\n')
    user = 2e6
    const text = registry.text()
    expect(text).toContain('process_cpu_seconds_total 2.5\n')
    expect(text).toContain('process_resident_memory_bytes 7\n')
    expect(text).toContain('process_start_time_seconds 5\n')
    expect(text).toContain('nodejs_version_info{version="v20.19.0"} 1\n')
    measured[Symbol.dispose]()
    expect(clock.pending).toEqual([])
  })
})

describe('metricsHandler()', () => {
  const registry = createMetricRegistry()
  registry.add('a_total', {}, 1)
  const ask = async (path: string, accept?: string, method = 'GET') =>
    metricsHandler(registry)({
      method,
      path,
      query: new URLSearchParams(),
      headers: { accept },
      remoteAddress: '10.0.0.1',
      signal: new AbortController().signal,
    })

  test('serves the format that the Accept header requests', async () => {
    expect(await ask('/metrics')).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8; escaping=underscores' },
      body: '# TYPE a_total counter\na_total 1\n',
    })
    expect((await ask('/metrics', 'application/openmetrics-text')).body).toContain('# EOF')
  })

  test('responds with 404 to other paths and 405 to other methods', async () => {
    expect((await ask('/')).status).toBe(404)
    expect((await ask('/metrics', undefined, 'POST')).status).toBe(405)
  })
})
