import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CoreClient, named, problemOf } from '../../../testdata/core-client.ts'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { coreEvents, groupEvents } from './event.ts'

let client: CoreClient
beforeAll(async () => {
  client = await CoreClient.start()
})
afterAll(() => client[Symbol.asyncDispose]())

const { createErrors } = strategyHarness(coreEvents)

const ns = '/api/v1/namespaces/a'

describe('events', () => {
  test.each<[string, object, string[]]>([
    [
      'an object in another namespace',
      { involvedObject: { namespace: 'b' } },
      ['involvedObject.namespace: Invalid value: "b": does not match event.namespace'],
    ],
  ])('reject %s', async (_, fields, errors) => {
    expect(
      await createErrors({ apiVersion: 'v1', kind: 'Event', metadata: { name: 'x', namespace: 'a' }, ...fields }),
    ).toEqual(errors)
  })

  test('show the object, the source and the times', () => {
    expect(
      cellsOf(coreEvents, {
        type: 'Warning',
        reason: 'R',
        message: ' text\n',
        involvedObject: { kind: 'Pod', name: 'p', fieldPath: 'spec.containers{a}' },
        source: { component: 'kubelet', host: 'n1' },
        firstTimestamp: '2024-01-01T00:30:00Z',
        lastTimestamp: '2024-01-01T00:59:00Z',
        count: 7,
      }),
    ).toEqual(['60s', 'Warning', 'R', 'pod/p', 'spec.containers{a}', 'kubelet, n1', 'text', '30m', 7, 'x'])
  })

  test('show <unknown> for missing times', () => {
    expect(cellsOf(coreEvents, { involvedObject: {} })).toEqual([
      '<unknown>',
      '',
      '',
      '',
      '',
      '',
      '',
      '<unknown>',
      1,
      'x',
    ])
  })

  test('of events.k8s.io show the series', () => {
    expect(
      cellsOf(groupEvents, {
        note: 'n',
        regarding: { kind: 'Node' },
        reportingController: 'c',
        eventTime: '2024-01-01T00:30:00.000000Z',
        series: { count: 4, lastObservedTime: '2024-01-01T00:59:30.000000Z' },
      }),
    ).toEqual(['30s', '', '', 'node', '', 'c', 'n', '30m', 4, 'x'])
  })

  test('are the same objects in both groups', async () => {
    await client.create(
      `${ns}/events`,
      named('e', { involvedObject: { kind: 'Pod', name: 'p', namespace: 'a' }, reason: 'R', message: 'm', count: 2 }),
    )
    const { body } = await client.send('GET /apis/events.k8s.io/v1/namespaces/a/events/e')
    expect(body).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      regarding: { kind: 'Pod', name: 'p', namespace: 'a' },
      note: 'm',
      deprecatedCount: 2,
    })
    const found = await client.send('GET /apis/events.k8s.io/v1/events?fieldSelector=regarding.name=p')
    expect(found.body.items).toHaveLength(1)
  })

  test('of events.k8s.io are immutable except for the series', async () => {
    const path = '/apis/events.k8s.io/v1/namespaces/a/events'
    const event = {
      regarding: { kind: 'Pod', name: 'p', namespace: 'a' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'c',
      reportingInstance: 'i',
      action: 'A',
      reason: 'R',
      type: 'Normal',
    }
    expect((await client.create(path, named('once', event))).status).toBe(201)
    expect(problemOf(await client.patch(`${path}/once`, { note: 'x' }))).toBe(
      'message: Invalid value: "x": field is immutable',
    )
  })
})
