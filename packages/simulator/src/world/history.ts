import { createHash } from 'node:crypto'
import type { Clock } from '@kubewright/base'
import type { TimelineEntry } from '../define/timeline.ts'
import type { Violation } from '../define/violation.ts'

/** The history of one run: a hash of every message, the timeline of its story, and the violations. */
export class History {
  readonly timeline: TimelineEntry[] = []
  readonly violations: Violation[] = []
  readonly #clock: Clock
  readonly #without: ReadonlySet<string>
  readonly #hash = createHash('sha256')

  constructor(clock: Clock, without: ReadonlySet<string>) {
    this.#clock = clock
    this.#without = without
  }

  /** The hash of the history so far. */
  hash(): string {
    return this.#hash.copy().digest('hex')
  }

  /** Adds a message to the hash. */
  record(line: string, bytes: Uint8Array | undefined): void {
    this.#hash.update(`${this.#clock.nowMicros()} ${line}\n`)
    if (bytes !== undefined) this.#hash.update(bytes)
  }

  /** Adds a sentence to the timeline. */
  note(actor: TimelineEntry['actor'], text: string, source?: string): void {
    const time = Math.round(this.#clock.monotonic())
    this.timeline.push({ time, actor, text, ...(source === undefined ? {} : { source }) })
  }

  /** Adds a violation, unless its oracle is turned off or the same one was found before. */
  violate(oracle: string, message: string, details: readonly string[] = []): void {
    if (this.#without.has(oracle)) return
    if (this.violations.some((one) => one.oracle === oracle && one.message === message)) return
    this.violations.push({ oracle, message, details })
    this.note('oracle', message)
  }
}
