import { type KubeObject, newAlreadyExists, newForbidden, toTime } from '@kubewright/api'
import { memoryLogger, VirtualClock } from '@kubewright/base'
import {
  type ApiClient,
  bearerToken,
  type Client,
  ConnectionError,
  createClient,
  inProcessTransport,
} from '@kubewright/client'
import { ConfigMap, Node } from '@kubewright/k8s'
import { Event as CoreEvent } from '@kubewright/k8s/core/v1'
import { Event } from '@kubewright/k8s/events/v1'
import { assembleServer } from '@kubewright/server'
import { MemoryStore } from '@kubewright/storage'
import { describe, expect, test } from 'vitest'
import { createEventRecorder, type EventRecorderOptions } from './create-event-recorder.ts'
import { eventMetricName } from './event-metrics.ts'

const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '7', generation: 1, creationTimestamp: '' },
}
const note = { type: 'Normal', reason: 'Started', message: 'It runs' } as const

/** A recorder with a client whose responses the test controls. */
function startRecorder(options: Partial<EventRecorderOptions> = {}) {
  const clock = new VirtualClock()
  const log = memoryLogger(0)
  const counts: Record<string, number> = {}
  const requests: { verb: string; body: Record<string, unknown> }[] = []
  let answer: () => unknown = () => ({})
  const call = async (verb: string, body: unknown) => {
    requests.push({ verb, body: body as Record<string, unknown> })
    return answer()
  }
  // The recorder uses these two methods only.
  const client = {
    create: (draft: unknown) => call('create', draft),
    patch: (_kind: unknown, _key: unknown, patch: unknown) => call('patch', patch),
  } as unknown as Client
  const metrics = {
    add: (name: string, labels: Readonly<Record<string, string>>, amount: number) => {
      expect(name).toBe(eventMetricName)
      const result = labels['result'] ?? ''
      counts[result] = (counts[result] ?? 0) + amount
    },
    set: () => undefined,
    observe: () => undefined,
  }
  const recorder = createEventRecorder({ client, clock, log, metrics, component: 'op', instance: 'op-0', ...options })
  const setAnswer = (next: () => unknown): void => {
    answer = next
  }
  return { recorder, clock, log, counts, requests, setAnswer }
}
const unreachable = (): never => {
  throw new ConnectionError('connection refused', { host: 'test', sent: false } as never)
}

describe('createEventRecorder()', () => {
  test('gives an Event another name when another recorder has used its name', async () => {
    const { recorder, requests, setAnswer } = startRecorder()
    setAnswer(() => {
      if (requests.length === 1) throw newAlreadyExists({ group: 'events.k8s.io', resource: 'events' }, 'a')
      return {}
    })
    recorder.record(pod, note)
    await recorder[Symbol.asyncDispose]()
    const names = requests.map(({ body }) => (body['metadata'] as { name: string }).name)
    expect([names.length, new Set(names).size]).toEqual([2, 2])
  })

  test('takes an Event as written when an earlier create got no response', async () => {
    const { recorder, clock, requests, counts, setAnswer } = startRecorder()
    setAnswer(() => {
      if (requests.length === 1) return unreachable()
      throw newAlreadyExists({ group: 'events.k8s.io', resource: 'events' }, 'a')
    })
    recorder.record(pod, note)
    await clock.advance(30_000)
    await recorder[Symbol.asyncDispose]()
    expect([requests.length, counts['created']]).toEqual([2, 1])
  })

  test('record() writes an Event in the background', async () => {
    const { recorder, clock, requests, counts } = startRecorder()
    recorder.record(pod, note)
    await clock.advance(0)
    expect(requests).toEqual([
      {
        verb: 'create',
        body: {
          apiVersion: 'events.k8s.io/v1',
          kind: 'Event',
          metadata: { name: `a.${(1_735_689_600_000_000_000n).toString(16)}`, namespace: 'default' },
          eventTime: '2025-01-01T00:00:00.000000Z',
          reportingController: 'op',
          reportingInstance: 'op-0',
          type: 'Normal',
          reason: 'Started',
          action: 'Started',
          note: 'It runs',
          regarding: { apiVersion: 'v1', kind: 'Pod', name: 'a', namespace: 'default', uid: 'u', resourceVersion: '7' },
        },
      },
    ])
    expect(counts).toEqual({ created: 1 })
  })

  test('record() counts repetitions, writes the count when it doubles, and the final count at the end of the series', async () => {
    const { recorder, clock, requests, counts } = startRecorder()
    for (let i = 0; i < 7; i++) {
      recorder.record(pod, note)
      await clock.advance('1s')
    }
    expect(requests.map(({ verb, body }) => [verb, (body['series'] as { count?: number } | undefined)?.count])).toEqual(
      [
        ['create', undefined],
        ['patch', 2],
        ['patch', 4],
      ],
    )
    await clock.advance('6m')
    expect(requests.at(-1)).toEqual({
      verb: 'patch',
      body: { series: { count: 7, lastObservedTime: '2025-01-01T00:00:06.000000Z' } },
    })
    expect([counts, clock.pending]).toEqual([{ created: 1, repeated: 6 }, []])
  })

  test('record() retries while the server is unreachable, for two minutes', async () => {
    const { recorder, clock, requests, counts, log, setAnswer } = startRecorder()
    setAnswer(unreachable)
    recorder.record(pod, note)
    await clock.advance('50s')
    expect(requests).toHaveLength(6)
    setAnswer(() => ({}))
    await clock.advance('10s')
    expect([requests.length, counts]).toEqual([7, { created: 1 }])
    setAnswer(unreachable)
    recorder.record(pod, { ...note, reason: 'Other' })
    await clock.advance('2m')
    expect([requests.length, counts['failed']]).toEqual([7 + 12, 1])
    expect(log.records.map(({ message }) => message)).toEqual(['Event was not written'])
  })

  test('record() does not retry an Event that the server rejects', async () => {
    const { recorder, clock, requests, counts, setAnswer } = startRecorder()
    setAnswer(() => {
      throw newForbidden({ group: 'events.k8s.io', resource: 'events' }, 'a', 'no')
    })
    recorder.record(pod, note)
    await clock.advance('1m')
    expect([requests.length, counts]).toEqual([1, { failed: 1 }])
  })

  test('record() never blocks and never throws: with 1000 Events waiting it drops and counts further ones', async () => {
    const { recorder, counts } = startRecorder()
    for (let i = 0; i < 1200; i++) {
      recorder.record({ ...pod, metadata: { ...pod.metadata, uid: `u${i}`, name: `a${i}` } }, note)
    }
    expect(counts).toEqual({ dropped: 200 })
    await recorder[Symbol.asyncDispose]()
    expect(counts).toEqual({ dropped: 200, created: 1000 })
  })

  test('[Symbol.asyncDispose]() writes waiting Events and final counts, and drops later Events', async () => {
    const { recorder, requests, counts, clock } = startRecorder()
    for (let i = 0; i < 3; i++) recorder.record(pod, note)
    await recorder[Symbol.asyncDispose]()
    expect(requests.map(({ body }) => body['series'])).toEqual([
      { count: 3, lastObservedTime: '2025-01-01T00:00:00.000000Z' },
    ])
    recorder.record(pod, note)
    expect([counts['dropped'], clock.pending]).toEqual([1, []])
  })

  test('[Symbol.asyncDispose]() retries a failed Event once, without delay', async () => {
    const { recorder, clock, counts, requests, setAnswer } = startRecorder()
    setAnswer(unreachable)
    recorder.record(pod, note)
    recorder.record(pod, { ...note, reason: 'Other' })
    await clock.advance('1s')
    await recorder[Symbol.asyncDispose]()
    expect([requests.length, counts, clock.pending]).toEqual([3, { failed: 2 }, []])
  })

  test('[Symbol.asyncDispose]() waits no longer than flushTimeout', async () => {
    const { recorder, clock, counts, log, setAnswer } = startRecorder({ flushTimeout: '3s' })
    setAnswer(() => new Promise(() => undefined))
    recorder.record(pod, note)
    recorder.record(pod, { ...note, reason: 'Other' })
    const disposed = recorder[Symbol.asyncDispose]()
    await clock.advance('3s')
    await Promise.race([disposed, clock.advance('1s').then(() => Promise.reject(new Error('still waiting')))])
    expect([counts, log.records.length > 0]).toEqual([{ dropped: 2 }, true])
  })
})

async function withServer(body: (client: ApiClient, clock: VirtualClock) => Promise<void>): Promise<void> {
  const clock = new VirtualClock()
  const store = new MemoryStore()
  const access = { tokens: [{ token: 'admin', user: { name: 'admin', groups: ['system:masters'] } }] }
  const server = await assembleServer({ store, clock, access })
  const client = createClient({
    transport: inProcessTransport({ handler: server.handler }),
    credentials: bearerToken('admin'),
  })
  try {
    await body(client, clock)
  } finally {
    await client[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    await store[Symbol.asyncDispose]()
  }
}

describe('createEventRecorder() with an API server', () => {
  test('writes Events that the server accepts, for any texts, about namespaced and cluster-scoped objects', async () => {
    await withServer(async (client, clock) => {
      const map = await client.create(ConfigMap({ metadata: { name: 'x'.repeat(253) } }))
      const node = await client.create(Node({ metadata: { name: 'n' } }))
      const log = memoryLogger(0)
      const component = `my operator/${'long '.repeat(40)}`
      const recorder = createEventRecorder({ client, clock, log, component, instance: 'i'.repeat(300) })
      recorder.record(map, { type: 'Warning', reason: 'R'.repeat(200), message: 'ü'.repeat(2000), related: node })
      recorder.record(node, { type: 'Normal', reason: '', message: '' })
      for (let i = 0; i < 3; i++) recorder.record(node, note)
      await recorder[Symbol.asyncDispose]()
      expect(log.records).toEqual([])
      const events = await client.list(Event, { namespace: 'default' })
      const shown = events.map(({ regarding, series, note: text }) =>
        [regarding?.kind, series?.count, text?.length].join(),
      )
      expect(shown.sort()).toEqual(['ConfigMap,,512', 'Node,,', 'Node,3,7'])
    })
  })

  test('continues a series, and creates it again when the server has deleted it', async () => {
    await withServer(async (client, clock) => {
      const map = await client.create(ConfigMap({ metadata: { name: 'a' } }))
      const recorder = createEventRecorder({ client, clock, log: memoryLogger(0), component: 'op', instance: 'op-0' })
      const written = async (count: number) => {
        for (;;) {
          const [event] = await client.list(Event)
          if ((event?.series?.count ?? (event ? 1 : 0)) === count) return event
          await clock.advance(0)
        }
      }
      recorder.record(map, note)
      await written(1)
      recorder.record(map, note)
      const event = await written(2)
      // kubectl lists them as core v1 Events.
      expect((await client.list(CoreEvent))[0]?.involvedObject).toMatchObject({ kind: 'ConfigMap', name: 'a' })
      await client.delete(Event, event!.metadata.name)
      recorder.record(map, note)
      recorder.record(map, note)
      await written(4)
      await recorder[Symbol.asyncDispose]()
    })
  })
})

test('createEventRecorder() writes each repetition of a v1 Event to the Event itself', async () => {
  const { recorder, clock, requests } = startRecorder()
  const classic = { ...note, api: 'v1', component: 'deployment-controller' } as const
  recorder.record(pod, classic)
  await clock.advance(0)
  recorder.record(pod, classic)
  recorder.record(pod, classic)
  await clock.advance(0)
  const [created, patched] = requests
  const first = toTime(clock.now())
  expect(created?.body).toEqual({
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: expect.stringMatching(/^a\./), namespace: 'default' },
    involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'a', uid: 'u', resourceVersion: '7' },
    reason: 'Started',
    message: 'It runs',
    type: 'Normal',
    source: { component: 'deployment-controller' },
    reportingComponent: 'deployment-controller',
    firstTimestamp: first,
    lastTimestamp: first,
    count: 1,
  })
  expect(patched).toEqual({ verb: 'patch', body: { count: 3, lastTimestamp: first } })
  await recorder[Symbol.asyncDispose]()
})
