import { VirtualClock } from '@kubewright/base'
import { createClient, inProcessTransport } from '@kubewright/client'
import { describe, expect, test } from 'vitest'
import { type OpenTelemetryApi, openTelemetryTracer } from './open-telemetry-tracer.ts'
import { traceRequests } from './trace-requests.ts'

/** An OpenTelemetry API that records the calls on spans as lines, in order. */
function fakeApi(): { api: OpenTelemetryApi; lines: string[] } {
  const lines: string[] = []
  const api: OpenTelemetryApi = {
    trace: {
      getTracer: (tracerName) => ({
        startActiveSpan: (name, { kind, attributes }, work) => {
          lines.push(`${tracerName}: start ${name} ${kind} ${JSON.stringify(attributes)}`)
          return work({
            setAttribute: (key, value) => lines.push(`${name}: ${key}=${value}`),
            recordException: (error) => void lines.push(`${name}: exception ${String(error)}`),
            setStatus: ({ code, message }) => lines.push(`${name}: status ${code} ${message}`),
            end: () => void lines.push(`${name}: end`),
          })
        },
      }),
    },
  }
  return { api, lines }
}

describe('openTelemetryTracer()', () => {
  test('ends a span when its work returns or its promise settles', async () => {
    const { api, lines } = fakeApi()
    const tracer = openTelemetryTracer(api)
    const seven = tracer.span('now', { a: 1 }, (span) => {
      span.set('b', true)
      return 7
    })
    expect(seven).toBe(7)
    let finish: (value: number) => void = () => undefined
    const later = tracer.span('later', {}, () => new Promise<number>((resolve) => (finish = resolve)))
    expect(lines).toEqual([
      'kubewright: start now 0 {"a":1}',
      'now: b=true',
      'now: end',
      'kubewright: start later 0 {}',
    ])
    finish(8)
    expect(await later).toBe(8)
    expect(lines.at(-1)).toBe('later: end')
  })

  test('marks a span as failed when its work throws or rejects, and rethrows', async () => {
    const { api, lines } = fakeApi()
    const tracer = openTelemetryTracer(api)
    const thrower = (): never => {
      throw new Error('no')
    }
    expect(() => tracer.span('now', {}, thrower)).toThrow('no')
    await expect(tracer.span('later', {}, () => Promise.reject(new Error('nope')))).rejects.toThrow('nope')
    expect(lines.filter((line) => !line.includes('start'))).toEqual([
      'now: exception Error: no',
      'now: status 2 no',
      'now: end',
      'later: exception Error: nope',
      'later: status 2 nope',
      'later: end',
    ])
  })

  test('backdates a span by startedMillisAgo', () => {
    const { api } = fakeApi()
    const startTimes: unknown[] = []
    const { getTracer } = api.trace
    const watching: OpenTelemetryApi = {
      trace: {
        getTracer: (name) => ({
          startActiveSpan: (spanName, options, work) => {
            startTimes.push(options.startTime)
            return getTracer(name).startActiveSpan(spanName, options, work)
          },
        }),
      },
    }
    const tracer = openTelemetryTracer(watching, { clock: new VirtualClock({ start: 5000 }) })
    tracer.span('a', {}, () => undefined, { startedMillisAgo: 250 })
    tracer.span('b', {}, () => undefined)
    expect(startTimes).toEqual([4750, undefined])
  })

  test('records the end and the failure of a span once', () => {
    const { api, lines } = fakeApi()
    const failing = (): void =>
      openTelemetryTracer(api).span('a', { 'webhook.path': '/mutate' }, (span) => {
        span.fail(new Error('no'))
        span.end()
        throw new Error('no')
      })
    expect(failing).toThrow('no')
    expect(lines).toEqual([
      'kubewright: start a 1 {"webhook.path":"/mutate"}',
      'a: exception Error: no',
      'a: status 2 no',
      'a: end',
    ])
  })
})

describe('traceRequests()', () => {
  test('creates a client span for each request', async () => {
    const { api, lines } = fakeApi()
    const transport = inProcessTransport({ handler: async () => ({ status: 404, headers: {}, body: Buffer.from('') }) })
    const client = createClient({ transport, around: traceRequests(openTelemetryTracer(api)) })
    const pods = { group: '', resource: 'pods' }
    await client.rest.json({ method: 'GET', path: '/api/v1/pods/a', resource: pods, name: 'a' }).catch(() => undefined)
    expect(lines[0]).toBe(
      'kubewright: start GET pods 2 {"http.request.method":"GET","url.path":"/api/v1/pods/a","k8s.resource.group":"","k8s.resource.name":"pods","k8s.object.name":"a"}',
    )
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(/^GET pods: exception/),
      expect.stringMatching(/^GET pods: status 2/),
      'GET pods: end',
    ])
  })
})
