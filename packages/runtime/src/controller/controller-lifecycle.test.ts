import { Deferred } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { createControllerRunner } from './controller-runner.ts'
import { defineKeyController, type KeyContext } from './key-controller.ts'
import { channelSource } from './sources/channel-source.ts'
import { kindSource } from './sources/kind-source.ts'
import type { Source } from './sources/source.ts'
import { runController } from './testdata/run-controller.ts'
import { errorsOf, Home, objectOf, testParts } from './testdata/test-parts.ts'

describe('createControllerRunner(), start and stop', () => {
  test('work() takes no more keys after drain and resolves when the running reconciles have ended, unaborted', async () => {
    const gate = new Deferred()
    const signals: AbortSignal[] = []
    await using running = runController(
      async (_key, { signal }) => {
        signals.push(signal)
        await gate.promise
      },
      { concurrency: 2 },
    )
    await running.push('a', 'b', 'c')
    running.drain.abort()
    let ended = false
    void running.working.then(() => {
      ended = true
    })
    await running.push('d')
    expect([ended, signals.map(({ aborted }) => aborted)]).toEqual([false, [false, false]])
    gate.resolve()
    await running.working
    expect(running.records.map(({ key }) => key)).toEqual(['a', 'b'])
    expect(running.runner.queue().ready.map(({ key }) => key)).toEqual(['c', 'd'])
  })

  test('work() aborts the running reconciles after abort, without logging an error', async () => {
    const reconcile = (_key: string, { signal }: KeyContext): Promise<void> =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    await using running = runController(reconcile)
    await running.push('ns/a')
    running.drain.abort()
    running.abort.abort(new Error('out of time'))
    await running.working
    expect(running.records).toMatchObject([{ key: 'ns/a', result: 'error' }])
    expect(errorsOf(running.parts.log)).toEqual([])
  })

  test('work() ends when it is aborted without a drain', async () => {
    await using running = runController(() => undefined)
    await running.push('a')
    running.abort.abort()
    await running.working
    await running.push('b')
    expect(running.records.map(({ key }) => key)).toEqual(['a'])
  })

  test('work() reconciles every key when it is called again, because another process may have planned requeues', async () => {
    await using running = runController(() => undefined, { sources: [kindSource(Home)] })
    const homes = running.parts.cluster.of(Home)
    homes.put(objectOf(Home, 'a', 1))
    homes.sync()
    await running.push()
    running.drain.abort()
    await running.working
    const again = new AbortController()
    const working = running.runner.work({ drain: again.signal, abort: again.signal })
    await running.push()
    expect(running.records.map(({ key, causes }) => [key, causes[0]?.event])).toEqual([
      ['ns/a', 'add'],
      ['ns/a', 'resync'],
    ])
    again.abort()
    await working
  })

  test('work() can be called again, continues with new keys, and rejects concurrent calls', async () => {
    await using running = runController(() => undefined)
    await running.push('a')
    const signals = { drain: new AbortController().signal, abort: new AbortController().signal }
    await expect(running.runner.work(signals)).rejects.toMatchObject({ code: 'KW_CONTROLLER_RUNNING' })
    running.drain.abort()
    await running.working
    await running.push('b')
    expect(running.records.map(({ key }) => key)).toEqual(['a'])
    const again = new AbortController()
    const working = running.runner.work({ drain: again.signal, abort: again.signal })
    await running.push()
    expect(running.records.map(({ key }) => key)).toEqual(['a', 'b'])
    again.abort()
    await working
  })

  test('[Symbol.asyncDispose]() aborts and awaits running reconciles, and prevents another start', async () => {
    const reasons: string[] = []
    const reconcile = (_key: string, { signal }: KeyContext): Promise<void> =>
      new Promise((resolve) =>
        signal.addEventListener('abort', () => {
          reasons.push((signal.reason as Error).message)
          resolve()
        }),
      )
    const running = runController(reconcile)
    await running.push('ns/a')
    await running.runner[Symbol.asyncDispose]()
    await running.working
    expect(reasons).toEqual(['Controller "test" was disposed'])
    await expect(running.runner.warmUp()).rejects.toThrow('it was disposed')
  })

  test('warmUp() rejects with the name of a source that fails to start, and may be retried', async () => {
    const parts = testParts()
    let broken = true
    let starts = 0
    const first = channelSource()
    const counted: Source = {
      name: 'counted',
      start: (sink, more) => {
        starts++
        return first.start(sink, more)
      },
    }
    const second = channelSource()
    const source: Source = {
      name: 'broken',
      start: (sink, more) => {
        if (broken) throw new Error('no socket')
        return second.start(sink, more)
      },
    }
    const controller = defineKeyController({ name: 'test', sources: [counted, source], reconcile: () => undefined })
    const runner = createControllerRunner(controller, parts)
    const message = 'Cannot start source "broken" of controller "test": no socket'
    await expect(runner.warmUp()).rejects.toThrow(message)
    expect(runner.problems()).toEqual([message])
    broken = false
    await runner.warmUp()
    expect([runner.problems(), starts]).toEqual([[], 1])
    first.push('a')
    second.push('b')
    expect(runner.queue().ready).toMatchObject([
      { key: 'a', causes: [{ count: 1 }] },
      { key: 'b', causes: [{ count: 1 }] },
    ])
    await runner[Symbol.asyncDispose]()
  })

  test('work() skips keys that other replicas hold, and reconciles them when the share of this process changes', async () => {
    const mine = new Set(['a'])
    let held = 0
    let changed: () => void = () => undefined
    const keyGate = {
      hold: (key: string) => {
        if (!mine.has(key)) return undefined
        held++
        return { [Symbol.dispose]: () => void held-- }
      },
      onChange: (listener: () => void) => {
        changed = listener
        return { [Symbol.dispose]: () => undefined }
      },
    }
    await using running = runController(() => undefined, {}, { keyGate })
    await running.push('a', 'b')
    expect(running.records.map(({ key }) => key)).toEqual(['a'])
    mine.add('b')
    changed()
    await running.push()
    expect(running.records.map(({ key }) => key)).toEqual(['a', 'b'])
    expect(held).toBe(0)
  })
})
