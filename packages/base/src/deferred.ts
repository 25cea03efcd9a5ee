/** A promise together with the functions that settle it. Settling it again has no effect. */
export class Deferred<T = void> {
  readonly promise: Promise<T>
  #settled = false
  readonly #resolve: (value: T | PromiseLike<T>) => void
  readonly #reject: (reason: unknown) => void

  constructor() {
    // The executor runs synchronously, so both variables are assigned before the constructor returns.
    let resolvePromise!: (value: T | PromiseLike<T>) => void
    let rejectPromise!: (reason: unknown) => void
    this.promise = new Promise<T>((resolve, reject) => {
      resolvePromise = resolve
      rejectPromise = reject
    })
    this.#resolve = resolvePromise
    this.#reject = rejectPromise
  }

  /** Whether `resolve` or `reject` has been called. */
  get settled(): boolean {
    return this.#settled
  }

  /** Resolves the promise. Bound, so that it can be passed as a callback. */
  readonly resolve = (value: T | PromiseLike<T>): void => {
    this.#settled = true
    this.#resolve(value)
  }

  /** Rejects the promise. Bound, so that it can be passed as a callback. */
  readonly reject = (reason: unknown): void => {
    this.#settled = true
    this.#reject(reason)
  }
}
