import { isInternalError, isResourceExpired } from '@kubewright/api'
import { describe, expect, test } from 'vitest'
import { ByteStream } from '../transport/byte-stream.ts'
import { type WatchEvent, WatchStream } from './watch-stream.ts'

function streamOf(...events: readonly unknown[]) {
  const text = events.map((event) => `${typeof event === 'string' ? event : JSON.stringify(event)}\n`).join('')
  return new WatchStream<unknown>({ body: ByteStream.of(Buffer.from(text)), read: (object) => object })
}

/** The events of a stream before it fails, and its error. */
async function drain(
  stream: AsyncIterable<WatchEvent<unknown>>,
): Promise<{ events: WatchEvent<unknown>[]; error: unknown }> {
  const events: WatchEvent<unknown>[] = []
  try {
    for await (const event of stream) events.push(event)
  } catch (error) {
    return { events, error }
  }
  return { events, error: undefined }
}

/** The events read in encoded form and decoded. */
async function* decoded(stream: WatchStream<unknown>): AsyncGenerator<WatchEvent<unknown>> {
  for await (const batch of stream.encoded()) {
    for (const event of batch) yield event.type === 'BOOKMARK' ? event : { ...event, object: event.object.decode() }
  }
}

describe.each([
  ['', (stream: WatchStream<unknown>): AsyncIterable<WatchEvent<unknown>> => stream],
  [', encoded', decoded],
])('WatchStream%s', (_, readAs) => {
  test('yields objects and bookmarks', async () => {
    const annotations = { 'k8s.io/initial-events-end': 'true' }
    const { events, error } = await drain(
      readAs(
        streamOf(
          { type: 'ADDED', object: { a: 1 } },
          { type: 'BOOKMARK', object: { metadata: { resourceVersion: '7', annotations } } },
          { type: 'BOOKMARK', object: { metadata: { resourceVersion: '8' } } },
        ),
      ),
    )
    expect(error).toBeUndefined()
    expect(events).toEqual([
      { type: 'ADDED', object: { a: 1 } },
      { type: 'BOOKMARK', resourceVersion: '7', initialEventsEnd: true },
      { type: 'BOOKMARK', resourceVersion: '8', initialEventsEnd: false },
    ])
  })

  test('yields the same events for any chunk boundaries', async () => {
    const thing = (name: string) => ({ metadata: { name, resourceVersion: '1' }, spec: { text: 'é{"' } })
    const lines = ['ADDED', 'MODIFIED', 'DELETED'].map((type) => ({ type, object: thing(type.toLowerCase()) }))
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    for (let size = 1; size < bytes.length; size += 7) {
      const body = new ByteStream(() => undefined)
      for (let at = 0; at < bytes.length; at += size) body.write(bytes.subarray(at, at + size))
      body.end()
      const { events } = await drain(readAs(new WatchStream<unknown>({ body, read: (object) => object })))
      expect(events).toEqual(lines)
    }
  })

  test('throws the Status of an ERROR event after the events before it', async () => {
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410, message: 'old' }
    const { events, error } = await drain(
      readAs(streamOf({ type: 'ADDED', object: {} }, { type: 'ERROR', object: status })),
    )
    expect(events).toHaveLength(1)
    expect(isResourceExpired(error)).toBe(true)
  })

  test.each([
    ['{"type":"ADDED","obj', 'unable to decode an event from the watch stream'],
    [{ type: 'MOVED', object: {} }, 'got invalid watch event type: MOVED'],
    [{ type: 'ERROR', object: { kind: 'Pod' } }, 'unexpected object in an ERROR event of a watch: {"kind":"Pod"}'],
  ])('rejects an invalid event: %j', async (line, message) => {
    const { events, error } = await drain(readAs(streamOf({ type: 'DELETED', object: {} }, line)))
    expect(events).toHaveLength(1)
    expect(isInternalError(error)).toBe(true)
    expect((error as Error).message).toContain(message)
  })

  test('close() stops the sender', async () => {
    let stopped = false
    const body = new ByteStream(() => (stopped = true))
    new WatchStream({ body, read: (object) => object }).close()
    expect(stopped).toBe(true)
  })
})
