import { type Profiler, Session } from 'node:inspector'

/**
 * Counts calls of functions between two turns of the event loop: a measure of how long other requests wait that does not depend on the
 * machine, as a time does. The engine counts, so code cannot hide its work. Loops in native code count as one call.
 */
export class CallCounter implements Disposable {
  readonly #session = new Session()

  constructor() {
    this.#session.connect()
    this.#session.post('Profiler.enable')
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  }

  /** Runs work and returns the largest number of calls between two turns of the event loop, and the number of all calls. */
  async measure(work: () => Promise<unknown>): Promise<{ longest: number; total: number }> {
    let longest = 0
    let total = 0
    const count = (): void => {
      const calls = this.#take()
      longest = Math.max(longest, calls)
      total += calls
    }
    let tick = setImmediate(function onTurn() {
      count()
      tick = setImmediate(onTurn)
    })
    this.#take()
    await work()
    count()
    clearImmediate(tick)
    return { longest, total }
  }

  /** The calls since it was called last. */
  #take(): number {
    let calls = 0
    // A session with its own thread answers before `post` returns.
    this.#session.post('Profiler.takePreciseCoverage', (_, { result }: Profiler.TakePreciseCoverageReturnType) => {
      for (const { functions } of result) for (const { ranges } of functions) calls += ranges[0]?.count ?? 0
    })
    return calls
  }

  [Symbol.dispose](): void {
    this.#session.disconnect()
  }
}
