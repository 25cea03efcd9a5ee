import type { Logger } from '@kubewright/base'
import type { ReconcileRecord } from './controller-runner.ts'
import type { ReconcileRun } from './reconcile-run.ts'

const kept = 100

/** The last reconciles of a controller, and the listeners. Records are created when they are read. */
export class ReconcileHistory {
  readonly #ring: ReconcileRun[] = []
  readonly #listeners = new Set<(record: ReconcileRecord) => void>()
  readonly #log: Logger
  // The index of the oldest entry once the ring is full.
  #next = 0

  constructor(log: Logger) {
    this.#log = log
  }

  add(run: ReconcileRun): void {
    if (this.#ring.length < kept) this.#ring.push(run)
    else {
      this.#ring[this.#next] = run
      this.#next = (this.#next + 1) % kept
    }
    if (this.#listeners.size > 0) this.#notify(run.record())
  }

  /** Newest first. */
  recent(): readonly ReconcileRecord[] {
    return [...this.#ring.slice(this.#next), ...this.#ring.slice(0, this.#next)].reverse().map((run) => run.record())
  }

  listen(listener: (record: ReconcileRecord) => void): Disposable {
    // Wrapped, so that the same function can be registered twice.
    const own = (record: ReconcileRecord): void => listener(record)
    this.#listeners.add(own)
    return { [Symbol.dispose]: () => void this.#listeners.delete(own) }
  }

  #notify(record: ReconcileRecord): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(record)
      } catch (error) {
        this.#log.error(error, 'Reconcile listener failed')
      }
    }
  }
}
