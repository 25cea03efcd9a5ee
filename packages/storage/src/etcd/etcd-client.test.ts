import { drainMicrotasks, VirtualClock } from '@kubewright/base'
import { type ProtoMessage, WireReader } from '@kubewright/base/protobuf'
import { expect, test } from 'vitest'
import { type FakeCall, header, startFakeEtcd } from '../testdata/fake-etcd.ts'
import { startProxy } from '../testdata/tcp-proxy.ts'
import { openEtcdStore } from './etcd-store.ts'
import { grpcStatus } from './grpc-error.ts'

/** The field number of a watch request's oneof: 1 creates a watch, 3 requests progress. */
const watchField = (message: Buffer): number => new WireReader(message).next()
const bytes = (text: string): Uint8Array => Buffer.from(text)

/** Waits for real sockets. For virtual clocks, which run ahead of them. */
const patient = { connectTimeout: '9999h', requestTimeout: '9999h', keepAliveInterval: '9999h' } as const

const version = (text: string): ProtoMessage => header(1).text(2, text)

/** Responds to reads with the revision from `revision`, and to Status with the version. */
function answer(call: FakeCall, revision: number, serverVersion = '3.6.1'): boolean {
  if (call.method === 'Range') call.send(header(revision))
  else if (call.method === 'Status') call.send(version(serverVersion))
  else return false
  call.finish()
  return true
}

test('EtcdStore.watch() requests progress from a server that answers in order', async () => {
  let revision = 5
  const asked: number[] = []
  await using server = await startFakeEtcd((call, message) => {
    if (answer(call, revision)) return
    const field = watchField(message)
    asked.push(field)
    if (field === 1) call.send(header(revision).integer(3, true))
    // Watch id -1 addresses all watches of the stream.
    else call.send(header(revision).bytes(2, new Uint8Array(0)))
  })
  await using store = await openEtcdStore({ endpoints: [server.url] })
  const watch = store.watch({ prefix: '/', after: 5 })[Symbol.asyncIterator]()
  const next = watch.next()
  while (asked.length === 0) await store.revision()
  revision = 9
  await store.revision()
  expect(await next).toEqual({ done: false, value: { changes: [], revision: 9 } })
  expect(asked.slice(0, 2)).toEqual([1, 3])
  await watch.return?.()
})

test('EtcdStore.watch() learns the newest revision while no other request is made', async () => {
  const clock = new VirtualClock()
  let revision = 5
  let watching = false
  await using server = await startFakeEtcd((call, message) => {
    if (answer(call, revision)) return
    watching = true
    call.send(watchField(message) === 1 ? header(revision).integer(3, true) : header(revision))
  })
  await using store = await openEtcdStore({ endpoints: [server.url], clock, ...patient, progressInterval: '5s' })
  const watch = store.watch({ prefix: '/', after: 5 })[Symbol.asyncIterator]()
  let batch: unknown
  const next = watch.next().then((result) => {
    batch = result.value
  })
  while (!watching) await store.revision()
  revision = 7
  // Advance virtual time while real responses arrive.
  while (batch === undefined) {
    await clock.advance(1000)
    await drainMicrotasks()
  }
  await next
  expect(batch).toEqual({ changes: [], revision: 7 })
  await watch.return?.()
})

test('EtcdStore reports a server that does not speak gRPC', async () => {
  await using server = await startFakeEtcd((call) => {
    call.stream.respond({ ':status': 404 }, { endStream: true })
  })
  await expect(openEtcdStore({ endpoints: [server.url] })).rejects.toMatchObject({
    code: 'KW_STORAGE_UNAVAILABLE',
    message: expect.stringContaining('the server responded with HTTP status 404: it is not etcd'),
  })
})

test.each([
  ['has no leader', (call: FakeCall) => call.finish(grpcStatus.unavailable, 'etcdserver: no leader'), 'made'],
  ['rejects the stream', (call: FakeCall) => call.stream.close(7), 'made'],
  ['times out', (call: FakeCall) => call.finish(grpcStatus.unavailable, 'etcdserver: request timed out'), 'uncertain'],
  ['resets the stream', (call: FakeCall) => call.stream.close(2), 'uncertain'],
  ['loses the connection', (call: FakeCall) => call.stream.session?.destroy(), 'uncertain'],
  ['ends without a message', (call: FakeCall) => call.finish(), 'uncertain'],
  [
    'is full',
    (call: FakeCall) => call.finish(grpcStatus.resourceExhausted, 'etcdserver: mvcc: database space exceeded'),
    'refused',
  ],
] as const)(
  'EtcdStore.put() retries on another endpoint only if the first one never made the write: it %s',
  async (_, fail, outcome) => {
    let writes = 0
    await using first = await startFakeEtcd((call) => void (answer(call, 1) || fail(call)))
    await using second = await startFakeEtcd((call) => {
      if (answer(call, 1)) return
      writes++
      call.send(header(2).integer(2, true))
      call.finish()
    })
    await using store = await openEtcdStore({ endpoints: [first.url, second.url] })
    const result = await store.put('/a', bytes('1'), 0).then(
      ({ ok }) => (ok ? 'made' : 'not made'),
      (error: { code: string }) => error.code,
    )
    const codes = { made: 'made', uncertain: 'KW_STORAGE_UNCERTAIN', refused: 'KW_STORAGE_WRITE' }
    expect(result).toBe(codes[outcome])
    expect(writes).toBe(outcome === 'made' ? 1 : 0)
  },
)

test('EtcdStore closes a connection that stopped responding, and the watch resumes on another', async () => {
  const clock = new VirtualClock()
  const watched: string[] = []
  const serve = (name: string) => (call: FakeCall, message: Buffer) => {
    if (answer(call, 3)) return
    if (watchField(message) === 1) watched.push(name)
    call.send(header(3).integer(3, true))
  }
  await using first = await startFakeEtcd(serve('first'))
  await using second = await startFakeEtcd(serve('second'))
  await using proxy = await startProxy(first.url)
  const endpoints = [proxy.url, second.url]
  await using store = await openEtcdStore({ endpoints, clock, ...patient, keepAliveInterval: '10s' })
  const stop = new AbortController()
  const end = store.watch({ prefix: '/', after: 3, signal: stop.signal })[Symbol.asyncIterator]().next()
  while (watched.length === 0) await drainMicrotasks()
  for (let tick = 0; tick < 3; tick++) {
    await clock.advance(10_000)
    // One more round trip, so that the answer to the ping has arrived.
    await store.revision()
  }
  expect(watched).toEqual(['first'])
  // Pings reach the server, their answers do not arrive.
  proxy.swallowAnswers()
  await clock.advance(20_000)
  while (watched.length === 1) {
    await clock.advance(10)
    await drainMicrotasks()
  }
  expect(watched).toEqual(['first', 'second'])
  stop.abort()
  expect(await end).toEqual({ done: true, value: undefined })
})
