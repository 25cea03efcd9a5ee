import {
  abortable,
  Deferred,
  errorText,
  formatDuration,
  KubewrightError,
  toMillis,
  type WaitOptions,
} from '@kubewright/base'
import type { ControllerParts } from '../controller-parts.ts'
import type { KeyController } from '../key-controller.ts'
import type { KeySink, RunningSource } from './source.ts'

interface Started {
  readonly name: string
  readonly running: RunningSource
  synced: boolean
}

/** The running sources of one controller. */
export class SourceSet {
  readonly #controller: KeyController
  readonly #parts: ControllerParts
  readonly #started: Started[] = []

  constructor(controller: KeyController, parts: ControllerParts) {
    this.#controller = controller
    this.#parts = parts
  }

  /** Starts the sources that have not been started. Throws when one fails to start; then it may be called again. */
  start(sink: KeySink): void {
    for (const source of this.#controller.sources.slice(this.#started.length)) {
      const { name } = source
      try {
        const started: Started = { name, running: source.start(sink, this.#parts), synced: false }
        this.#started.push(started)
        // Prevents an unhandled rejection: callers of `synced` get the error.
        started.running.synced.then(
          () => {
            started.synced = true
          },
          () => undefined,
        )
      } catch (error) {
        const message = `Cannot start source "${name}" of controller "${this.#controller.name}": ${errorText(error)}`
        throw new KubewrightError('KW_SOURCE_FAILED', message, { cause: error })
      }
    }
  }

  /** Resolves when the initial keys have been added. Rejects after the sync timeout of the controller. */
  async synced(options: WaitOptions): Promise<void> {
    const timeout = toMillis(this.#controller.syncTimeout)
    const late = new Deferred<never>()
    const label = `sync of controller ${this.#controller.name}`
    const timer = this.#parts.clock.setTimer(timeout, () => late.reject(this.#notSynced(timeout)), label)
    try {
      await abortable(
        Promise.race([Promise.all(this.#started.map((each) => this.#waitFor(each))), late.promise]),
        options.signal,
      )
    } finally {
      timer.cancel()
    }
  }

  problems(): string[] {
    return this.#started.flatMap(({ name, running }) => {
      const problem = running.problem()
      return problem === undefined ? [] : [`Source "${name}": ${problem}`]
    })
  }

  rescan(): void {
    for (const { running } of this.#started) running.rescan?.()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#started.splice(0).map(({ running }) => running[Symbol.asyncDispose]()))
  }

  async #waitFor({ name, running }: Started): Promise<void> {
    try {
      await running.synced
    } catch (error) {
      const message = `Source "${name}" of controller "${this.#controller.name}" failed: ${errorText(error)}`
      throw new KubewrightError('KW_SOURCE_FAILED', message, { cause: error })
    }
  }

  #notSynced(timeout: number): KubewrightError {
    const missing = this.#started.filter(({ synced }) => !synced)
    const reasons = missing.map(({ name, running }) => `source "${name}": ${running.problem() ?? 'it gave no reason'}`)
    return new KubewrightError(
      'KW_CACHE_NOT_SYNCED',
      `Controller "${this.#controller.name}" cannot start: not synced within ${formatDuration(timeout)}: ${reasons.join('; ')}`,
    )
  }
}
