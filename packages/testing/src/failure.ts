import type { KubewrightError } from '@kubewright/base'

/** A permanent failure of the environment. It is reported by the next wait, or else when the environment is disposed. */
export class Failure {
  readonly #happened = new AbortController()
  #isTold = false

  get signal(): AbortSignal {
    return this.#happened.signal
  }

  happen(error: KubewrightError): void {
    this.#happened.abort(error)
  }

  /** Marks the failure as reported if `error` is that failure. Returns `error`, for a wait to throw. */
  tell(error: unknown): unknown {
    this.#isTold ||= error === this.signal.reason
    return error
  }

  throwUntold(): void {
    const { aborted, reason } = this.signal
    // An operator that ended rejects the disposal itself.
    if (aborted && !this.#isTold && reason.code === 'KW_TEST_MISSING_RIGHT') throw reason
  }
}
