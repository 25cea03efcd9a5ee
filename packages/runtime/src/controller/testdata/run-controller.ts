import type { ControllerParts } from '../controller-parts.ts'
import { type ControllerRunner, createControllerRunner, type ReconcileRecord } from '../controller-runner.ts'
import { defineKeyController, type KeyControllerOptions, type KeyReconciler } from '../key-controller.ts'
import { type ChannelSource, channelSource } from '../sources/channel-source.ts'
import { Home, type TestParts, testParts } from './test-parts.ts'

/** A running controller `test` that processes the keys which the test pushes. */
export interface Running extends AsyncDisposable {
  readonly parts: TestParts
  readonly source: ChannelSource
  readonly runner: ControllerRunner
  readonly records: readonly ReconcileRecord[]
  readonly drain: AbortController
  readonly abort: AbortController
  /** Resolves when `work` has ended. */
  readonly working: Promise<void>
  /** Pushes keys and runs everything that needs no time. */
  push(...keys: readonly string[]): Promise<void>
  /** The delayed keys with their remaining delays. */
  waiting(): Readonly<Record<string, number>>
}

export function runController(
  reconcile: KeyReconciler,
  options: Partial<KeyControllerOptions> = {},
  more: Partial<ControllerParts> = {},
): Running {
  const parts = testParts(more)
  const source = channelSource()
  const controller = defineKeyController({ name: 'test', kind: Home, sources: [source], reconcile, ...options })
  const runner = createControllerRunner(controller, parts)
  const records: ReconcileRecord[] = []
  runner.onReconciled((record) => records.push(record))
  const drain = new AbortController()
  const abort = new AbortController()
  const working = runner.work({ drain: drain.signal, abort: abort.signal })
  return {
    parts,
    source,
    runner,
    records,
    drain,
    abort,
    working,
    push: async (...keys) => {
      for (const key of keys) source.push(key)
      await parts.clock.advance(0)
    },
    waiting: () => Object.fromEntries(runner.queue().waiting.map(({ key, time }) => [key, time])),
    [Symbol.asyncDispose]: async () => {
      drain.abort()
      abort.abort()
      await working
      await runner[Symbol.asyncDispose]()
    },
  }
}
