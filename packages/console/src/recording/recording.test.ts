import { gzipSync } from 'node:zlib'
import { textOf } from '@kubewright/base'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FollowOptions } from '../cluster/cluster-view.ts'
import { listAt, objectAt } from '../cluster/json.ts'
import { describeChange } from './describe-change.ts'
import { RecordedCluster } from './recorded-cluster.ts'
import { Recording, stateAt } from './recording.ts'
import { decodeRecording, encodeRecording } from './recording-file.ts'

const maps = { group: '', version: 'v1', plural: 'configmaps' }

function add(recording: Recording, name: string, data: string | undefined, options = {}): void {
  const metadata = { name, namespace: 'default', uid: name, labels: { name } }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { data } }
  const row = { uid: name, name, namespace: 'default', created: '', cells: [name, 1] }
  const state = data === undefined ? undefined : { text: JSON.stringify(object), row }
  recording.add({ resource: maps, uid: name, namespace: 'default', name }, state, 1000, options)
}

/** The data of all objects at a moment, by name. */
function dataAt(recording: Recording, moment: number): Record<string, string> {
  const found: Record<string, string> = {}
  for (const object of recording.objectsOf(maps)) {
    const state = stateAt(object, moment)
    if (state !== undefined) found[object.name] = textOf(objectAt(JSON.parse(state.text), 'data')['data'])
  }
  return found
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts)
}

const writes = fc.array(
  fc.record({ name: fc.constantFrom('a', 'b', 'c'), data: fc.option(fc.string(), { nil: undefined }) }),
  { maxLength: 40 },
)

test('Recording shows at every moment what a copy of all states shows', () => {
  fc.assert(
    fc.property(writes, (list) => {
      const recording = new Recording({ startedAt: 0 })
      const expected = [{}]
      for (const { name, data } of list) {
        const before = { ...expected.at(-1) } as Record<string, string>
        if (data === undefined && !(name in before)) continue
        add(recording, name, data)
        if (data === undefined) delete before[name]
        else before[name] = data
        expected.push(before)
      }
      expect(recording.last).toBe(expected.length - 1)
      for (const [moment, state] of expected.entries()) expect(dataAt(recording, moment)).toEqual(state)
    }),
  )
})

test('Recording drops the oldest changes beyond its size, and keeps the state at its oldest moment', () => {
  fc.assert(
    fc.property(writes, (list) => {
      const whole = new Recording({ startedAt: 0 })
      const small = new Recording({ startedAt: 0, maxSize: 3000 })
      for (const { name, data } of list) {
        add(whole, name, data)
        add(small, name, data)
      }
      expect(small.last).toBe(whole.last)
      for (let moment = small.first; moment <= small.last; moment++)
        expect(dataAt(small, moment)).toEqual(dataAt(whole, moment))
    }),
  )
})

test('decodeRecording() reads what encodeRecording() wrote, also after changes were dropped', async () => {
  await fc.assert(
    fc.asyncProperty(writes, async (list) => {
      const recording = new Recording({ startedAt: 5, maxSize: 3000 })
      add(recording, 'base', 'x', { isBase: true })
      for (const { name, data } of list) add(recording, name, data)
      const file = await decodeRecording(await bytesOf(encodeRecording({ recording, cluster: 'c', operators: [] })))
      expect(file.cluster).toBe('c')
      const { first, last } = recording
      expect(file.recording.last - file.recording.first).toBe(last - first)
      for (let step = 0; step <= last - first; step++)
        expect(dataAt(file.recording, file.recording.first + step)).toEqual(dataAt(recording, first + step))
    }),
    { numRuns: 30 },
  )
})

test.each([
  ['text', Buffer.from('no recording')],
  ['nothing', Buffer.alloc(0)],
])('decodeRecording() rejects a file of %s', async (_, bytes) => {
  await expect(decodeRecording(bytes)).rejects.toThrow('The recording cannot be read: it cannot be expanded')
})

test('decodeRecording() rejects a truncated file', async () => {
  const recording = new Recording({ startedAt: 0 })
  add(recording, 'a', 'x'.repeat(1000))
  const bytes = await bytesOf(encodeRecording({ recording, cluster: 'c', operators: [] }))
  for (const length of [bytes.length - 1, bytes.length >> 1, 12])
    await expect(decodeRecording(bytes.subarray(0, length))).rejects.toThrow('The recording cannot be read')
})

const head = { format: 'kubewright-recording', version: 1, startedAt: 0 }
const state = { resource: maps, uid: 'a', name: 'a', time: 1, row: { cells: [] }, object: { metadata: { name: 'a' } } }
const fileOf = (...lines: readonly unknown[]): Buffer =>
  gzipSync(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))
const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`

test.each<[string, Buffer | Uint8Array, RegExp]>([
  ['no bytes', new Uint8Array(), /cannot be expanded|it is empty/],
  ['bytes that are not compressed', Buffer.from('{}'), /cannot be expanded/],
  ['an empty text', fileOf(''), /it is empty/],
  ['another format', fileOf({ format: 'x' }), /it is not a recording/],
  ['a list', fileOf([]), /it is not a recording/],
  ['a later version', fileOf({ ...head, version: 2 }), /version 2/],
  ['a header that is too deep', fileOf(deep), /line 1 is nested more than 500 levels deep/],
  ['a state that is too deep', fileOf(head, deep), /line 2 is nested more than 500 levels deep/],
  ['half a line', fileOf(head, '{"resource":{"gro'), /line 2 is not complete/],
  ['a number as a line', fileOf(head, 7), /line 2 is not a state/],
  ['a state without a resource', fileOf(head, { ...state, resource: 'pods' }), /line 2 is not a state/],
  ['a time beyond all dates', fileOf(head, { ...state, time: 1e300 }), /line 2 is not a state/],
  ['a state without its object', fileOf(head, { ...state, object: undefined }), /line 2 is not a state/],
  ['a very long line', fileOf(head, ' '.repeat(65 * 1024 * 1024)), /a line is longer than 64 MiB/],
])('decodeRecording() rejects %s and names the reason', async (_, bytes, reason) => {
  const failure = await decodeRecording(bytes).catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'KW_CONSOLE_RECORDING' })
  expect(String(failure)).toMatch(reason)
})

test('decodeRecording() returns what the page expects when fields have other types', async () => {
  const header = {
    ...head,
    startedAt: '<b>',
    cluster: { toString: 1 },
    kinds: [null, 7, { group: 1 }, { ...maps, shortNames: 'x', verbs: { length: 3 } }],
    columns: [{ resource: null }, { resource: maps, columns: [{ name: ['x'] }] }],
    marks: [{ time: 1e300 }, { time: 1, text: {} }],
    operators: [{ controllers: [{ keys: [{}] }], reconciles: [{ causes: 1, requests: {} }], calls: 'x', name: 5 }],
  }
  const { recording, cluster, operators } = await decodeRecording(fileOf(header, { ...state, namespace: 5 }))
  expect(cluster).toBe('')
  expect(recording.startedAt).toBe(0)
  expect(recording.kinds).toMatchObject([{ plural: 'configmaps', kind: '', shortNames: [], verbs: [] }])
  expect(recording.columnsOf(maps)).toMatchObject([{ name: '', priority: 0 }])
  expect(recording.marks).toEqual([{ time: 1, actor: '', text: '' }])
  expect(operators).toMatchObject([
    { name: '', controllers: [{ name: '', keys: [{ state: 'ready', causes: [] }] }], calls: [], missingAccess: [] },
  ])
  expect(operators[0]?.reconciles[0]).toMatchObject({ causes: [], requests: [] })
})

test('RecordedCluster lists the objects of a moment by namespace and selectors', async () => {
  const recording = new Recording({ startedAt: 0 })
  add(recording, 'a', 'x')
  add(recording, 'b', 'x')
  add(recording, 'a', undefined)
  const names = async (moment: number, options: Partial<FollowOptions>): Promise<string[]> =>
    new Promise((resolve, reject) => {
      let found: string[] = []
      const sink = {
        page: (page: unknown) => {
          found = listAt(page, 'items').map((item) => textOf(objectAt(item, 'metadata')['name']))
        },
        listed: () => undefined,
        event: () => undefined,
        state: (state: string, problem = '') => (state === 'live' ? resolve(found) : reject(new Error(problem))),
      }
      const { signal } = new AbortController()
      new RecordedCluster(recording, moment).follow({ signal, resource: maps, sink, ...options })
    })
  expect(await names(2, {})).toEqual(['a', 'b'])
  expect(await names(3, {})).toEqual(['b'])
  expect(await names(0, {})).toEqual([])
  expect(await names(2, { labelSelector: 'name=b' })).toEqual(['b'])
  expect(await names(2, { fieldSelector: 'metadata.name=a' })).toEqual(['a'])
  expect(await names(2, { namespace: 'other' })).toEqual([])
  await expect(names(2, { labelSelector: '===' })).rejects.toThrow()
})

test('describeChange() names the fields that changed and the managers that wrote', () => {
  const recording = new Recording({ startedAt: 0 })
  const put = (containers: unknown, manager: string): void => {
    const metadata = { name: 'a', uid: 'a', managedFields: [{ manager: 'old' }, { manager, time: manager }] }
    const text = JSON.stringify({ kind: 'Pod', metadata, spec: { containers } })
    const row = { uid: 'a', name: 'a', created: '', cells: [] }
    recording.add({ resource: maps, uid: 'a', name: 'a' }, { text, row }, 0)
  }
  put([{ name: 'web', image: 'a' }], 'kubectl')
  put(
    [
      { name: 'log', image: 'c' },
      { name: 'web', image: 'b' },
    ],
    'operator',
  )
  const [object] = recording.objectsOf(maps)
  const version = object?.versions[1]
  if (object === undefined || version === undefined) throw new Error('There is no second state')
  expect(describeChange(recording, object, version)).toMatchObject({
    type: 'MODIFIED',
    managers: ['operator'],
    fields: [
      { path: 'spec.containers[name=log]', after: '{"name":"log","image":"c"}' },
      { path: 'spec.containers[name=web].image', before: '"a"', after: '"b"' },
    ],
  })
})

test('describeChange() does not name a manager that only lost fields', () => {
  const recording = new Recording({ startedAt: 0 })
  const entry = (manager: string, time: string, fields: object) => ({
    manager,
    operation: 'Update',
    time,
    fieldsV1: { 'f:spec': fields },
  })
  const put = (replicas: number, ...managedFields: object[]): void => {
    const text = JSON.stringify({ metadata: { name: 'a', uid: 'a', managedFields }, spec: { replicas } })
    recording.add(
      { resource: maps, uid: 'a', name: 'a' },
      { text, row: { uid: 'a', name: 'a', created: '', cells: [] } },
      0,
    )
  }
  put(3, entry('operator', '1', { 'f:replicas': {}, 'f:paused': {} }))
  put(5, entry('operator', '1', { 'f:paused': {} }), entry('kubectl', '2', { 'f:replicas': {} }))
  put(3, entry('operator', '2', { 'f:paused': {}, 'f:replicas': {} }))
  const [object] = recording.objectsOf(maps)
  const managers = object?.versions.map((version) => describeChange(recording, object, version).managers)
  expect(managers).toEqual([['operator'], ['kubectl'], ['operator']])
})
