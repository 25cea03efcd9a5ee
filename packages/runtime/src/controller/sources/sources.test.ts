import { describe, expect, test } from 'vitest'
import type { AddOptions } from '../../queue/queue.ts'
import { fakeCluster } from '../testdata/fake-cluster.ts'
import { Home, objectOf, testParts } from '../testdata/test-parts.ts'
import { channelSource } from './channel-source.ts'
import { clusterKey, clusterSource, parseClusterKey } from './cluster-source.ts'
import { kindSource } from './kind-source.ts'
import { timerSource } from './timer-source.ts'

function sinkOf() {
  const keys: string[] = []
  const delays: number[] = []
  return {
    keys,
    delays,
    controller: 'test',
    add: (key: string, _options?: AddOptions) => void keys.push(key),
    addAfter: (key: string, delay: unknown) => {
      keys.push(key)
      delays.push(Number(delay))
    },
  }
}

describe('timerSource()', () => {
  test('adds its keys at a fixed rate, optionally from the start, until it is disposed', async () => {
    const parts = testParts()
    const sink = sinkOf()
    const running = timerSource('10s', { keys: ['a', { name: 'b', namespace: 'ns' }], atStart: true }).start(
      sink,
      parts,
    )
    await running.synced
    expect(sink.keys.splice(0)).toEqual(['a', 'ns/b'])
    await parts.clock.advance('25s')
    expect(sink.keys.splice(0)).toEqual(['a', 'ns/b', 'a', 'ns/b'])
    await running[Symbol.asyncDispose]()
    expect(parts.clock.pending).toEqual([])
  })

  test('determines its keys each time; a failure is logged and the next period tries again', async () => {
    const parts = testParts()
    const sink = sinkOf()
    const answers: (() => Promise<string[]>)[] = [() => Promise.reject(new Error('x')), () => Promise.resolve(['a'])]
    const running = timerSource('1m', { keys: () => answers.shift()?.() ?? [] }).start(sink, parts)
    await parts.clock.advance('1m')
    expect(sink.keys).toEqual([])
    await parts.clock.advance('1m')
    expect(sink.keys).toEqual(['a'])
    expect(parts.log.records.map(({ message }) => message)).toEqual(['Timer source failed to determine its keys'])
    await running[Symbol.asyncDispose]()
  })

  test('delays its keys by a random share of the period', async () => {
    const parts = testParts()
    const sink = sinkOf()
    const running = timerSource('10s', { keys: ['a', 'b', 'c'], jitter: 0.5 }).start(sink, parts)
    await parts.clock.advance('10s')
    expect(sink.delays).toHaveLength(3)
    expect(sink.delays.every((delay) => delay >= 0 && delay <= 5000)).toBe(true)
    await running[Symbol.asyncDispose]()
  })

  test('rejects a period of zero', () => {
    expect(() => timerSource(0, { keys: [] })).toThrow('greater than 0')
  })
})

describe('channelSource()', () => {
  test('buffers a bounded number of keys, each once, until it is started', () => {
    const source = channelSource({ capacity: 2, name: 'hooks' })
    for (const key of ['a', 'b', 'a']) source.push(key)
    expect(() => source.push('c')).toThrow('Cannot push "c" into source "hooks": no controller has started it')
    const sink = sinkOf()
    source.start(sink, testParts())
    source.push({ name: 'c', namespace: 'ns' })
    expect(sink.keys).toEqual(['a', 'b', 'ns/c'])
  })

  test('adds keys to all controllers that use it, until they are disposed', async () => {
    const source = channelSource()
    const [first, second] = [sinkOf(), sinkOf()]
    const running = source.start(first, testParts())
    source.start(second, testParts())
    source.push('a')
    await running[Symbol.asyncDispose]()
    source.push('b')
    expect([first.keys, second.keys]).toEqual([['a'], ['a', 'b']])
  })
})

describe('clusterSource()', () => {
  test('runs a source on another cluster and adds the name of the cluster to its keys', () => {
    const east = fakeCluster('east')
    const sink = sinkOf()
    const source = clusterSource(east, kindSource(Home))
    source.start(sink, testParts())
    east.of(Home).sync()
    east.of(Home).put(objectOf(Home, 'a', 1))
    expect(sink.keys).toEqual(['east//ns/a'])
    expect(source.name).toBe('Home in cluster "east"')
    expect(parseClusterKey('east//ns/a')).toEqual({ cluster: 'east', key: 'ns/a' })
    expect(parseClusterKey('ns/a')).toEqual({ cluster: '', key: 'ns/a' })
    expect(clusterKey('', 'ns/a')).toBe('ns/a')
  })

  test('keeps plain keys with prefix: false', () => {
    const east = fakeCluster('east')
    const sink = sinkOf()
    clusterSource(east, kindSource(Home), { prefix: false }).start(sink, testParts())
    east.of(Home).put(objectOf(Home, 'a', 1))
    east.of(Home).sync()
    expect(sink.keys).toEqual(['ns/a'])
  })
})
