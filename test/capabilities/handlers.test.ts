import { defineOperator, defineResource, type Infer, s } from 'kubewright'
import { defineHandlers } from 'kubewright/handlers'
import { startTestEnv, type TestEnv } from 'kubewright/testing'
import { describe, expect, test } from 'vitest'

const Note = defineResource({
  group: 'example.com',
  version: 'v1',
  kind: 'Note',
  spec: s.object({ text: s.string(), color: s.string().default('yellow') }),
})
type Note = Infer<typeof Note>

const note = (text: string) => Note({ metadata: { name: 'a' }, spec: { text } })
const start = (handlers: Parameters<typeof defineHandlers<Note, never, unknown>>[1]): Promise<TestEnv> =>
  startTestEnv(defineOperator({ name: 'notes', controllers: [defineHandlers(Note as never, handlers as never)] }), {
    time: 'virtual',
  })

describe('defineHandlers()', () => {
  test('calls a handler once for each value of its field, with the value before', async () => {
    const calls: unknown[] = []
    await using env = await start({
      onCreate: () => void calls.push('create'),
      onChange: { 'spec.text': (_, { old, value }) => void calls.push([old, value]) },
    })
    await env.client.create(note('one'))
    await env.settled()
    await env.client.patch(Note, 'a', { spec: { color: 'red' } })
    await env.settled()
    await env.client.patch(Note, 'a', { spec: { text: 'two' } })
    await env.settled()
    expect(calls).toEqual(['create', [undefined, 'one'], ['one', 'two']])
  })

  test('repeats a handler that failed, but not those that succeeded', async () => {
    const calls: string[] = []
    await using env = await start({
      onChange: {
        'spec.color': () => void calls.push('color'),
        'spec.text': () => {
          calls.push('text')
          if (calls.filter((call) => call === 'text').length < 3) throw new Error('not yet')
        },
      },
    })
    await env.client.create(note('one'))
    await env.advance('1m')
    expect(calls).toEqual(['color', 'text', 'text', 'text'])
  })

  test('handles nothing twice after a restart', async () => {
    const calls: unknown[] = []
    const handlers = { onChange: { 'spec.text': (_: Note, { value }: { value: unknown }) => void calls.push(value) } }
    await using first = await start(handlers)
    await first.client.create(note('one'))
    await first.settled()
    const snapshot = first.snapshot()
    await using second = await snapshot.start()
    await second.settled()
    await second.client.patch(Note, 'a', { spec: { text: 'two' } })
    await second.settled()
    expect(calls).toEqual(['one', 'two'])
  })

  test('calls onDelete before the object is gone', async () => {
    const deleted: string[] = []
    await using env = await start({ onDelete: ({ metadata }) => void deleted.push(metadata.name) })
    await env.client.create(note('one'))
    await env.settled()
    await env.client.delete(Note, 'a')
    await env.gone(Note, 'a')
    expect(deleted).toEqual(['a'])
  })

  test('runs timers at their interval until the object is deleted', async () => {
    const times: number[] = []
    await using env = await start({
      timers: { tick: { every: '1m', run: (_, { now }) => void times.push(now().getTime()) } },
    })
    const begin = env.clock.now()
    await env.client.create(note('one'))
    await env.advance('150s')
    expect(times.map((time) => Math.round((time - begin) / 60_000))).toEqual([0, 1, 2])
    await env.client.delete(Note, 'a')
    await env.gone(Note, 'a')
    await env.advance('5m')
    expect(times).toHaveLength(3)
  })

  test('runs a daemon for as long as the object exists, and starts it again after a failure', async () => {
    const log: string[] = []
    await using env = await start({
      daemons: {
        async watcher(_, { sleep, signal, latest }) {
          log.push('started')
          if (log.length === 1) throw new Error('broken')
          while (!signal.aborted) {
            await sleep('10s').catch(() => undefined)
            if (!signal.aborted) log.push(latest<Note>().spec.text)
          }
          log.push('stopped')
        },
      },
    })
    await env.client.create(note('one'))
    await env.advance('15s')
    await env.client.patch(Note, 'a', { spec: { text: 'two' } })
    await env.advance('10s')
    expect(log).toEqual(['started', 'started', 'one', 'two'])
    await env.client.delete(Note, 'a')
    await env.gone(Note, 'a')
    expect(log.at(-1)).toBe('stopped')
  })

  test('rejects a timer without an interval', () => {
    expect(() => defineHandlers(Note, { timers: { tick: { every: 0, run: () => undefined } } })).toThrow(
      '\'every\' of timer "tick" must be greater than 0',
    )
  })
})
