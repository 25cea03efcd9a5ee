import { onAbort } from './on-abort.ts'

/** A signal that is created when it is first read: an AbortSignal and its listeners cost more than the work of a short call. */
export interface LazySignal {
  readonly signal: AbortSignal
  /** Whether it has aborted. Does not create the signal. */
  readonly aborted: boolean
  /** The reason of the abort. Does not create the signal. */
  readonly reason: unknown
  /**
   * Calls `listener` once on abort, or immediately if that has happened already. Returns a function that removes the listener. Does not
   * create the signal.
   */
  onAbort(listener: () => void): () => void
}

/** An abort controller whose signal follows other signals. Disposing it stops following them. */
export interface LinkedController extends LazySignal, Disposable {
  abort(reason?: unknown): void
}

/**
 * Creates a controller whose signal aborts with the reason of the first parent signal that aborts, or when `abort` is
 * called. Dispose it when the work is done: unlike AbortSignal.any, it then leaves no listener on a long-lived parent.
 */
export function linkSignals(...parents: readonly (AbortSignal | LazySignal | undefined)[]): LinkedController {
  const link = new Link()
  for (const parent of parents) link.follow(parent)
  return link
}

class Link implements LinkedController {
  #controller: AbortController | undefined
  #listeners: Set<() => void> | undefined
  #followed: (() => void)[] | undefined
  #aborted = false
  #reason: unknown

  get aborted(): boolean {
    return this.#aborted
  }

  get reason(): unknown {
    return this.#reason
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  follow(parent: AbortSignal | LazySignal | undefined): void {
    // After an abort, a listener on a further parent would leak.
    if (parent === undefined || this.#aborted) return
    const listener = (): void => this.abort(parent.reason)
    const stopListening = listen(parent, listener)
    if (this.#followed === undefined) this.#followed = [stopListening]
    else this.#followed.push(stopListening)
  }

  onAbort(listener: () => void): () => void {
    if (this.#aborted) {
      listener()
      return nothing
    }
    const listeners = (this.#listeners ??= new Set())
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  abort(reason: unknown = new DOMException('This operation was aborted', 'AbortError')): void {
    this[Symbol.dispose]()
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason
    // The state is complete before the first listener runs, as that of an AbortSignal.
    this.#controller?.abort(reason)
    const listeners = this.#listeners
    this.#listeners = undefined
    for (const listener of listeners ?? []) listener()
  }

  [Symbol.dispose](): void {
    const followed = this.#followed
    if (followed === undefined) return
    this.#followed = undefined
    for (const stopListening of followed) stopListening()
  }
}

const nothing = (): void => undefined

function listen(signal: AbortSignal | LazySignal | undefined, listener: () => void): () => void {
  return signal !== undefined && 'onAbort' in signal ? signal.onAbort(listener) : onAbort(signal, listener)
}

/**
 * Settles like `promise`, but rejects with the signal's reason as soon as the signal aborts. The work behind the
 * promise continues unobserved: use this only for work that cannot be cancelled.
 */
export function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal | LazySignal | undefined): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stopListening = listen(signal, () => reject(signal?.reason))
    // Attached even if the signal has aborted already: otherwise a later failure of the work would be an unhandled
    // rejection.
    promise.then(
      (value) => {
        stopListening()
        resolve(value)
      },
      (error: unknown) => {
        stopListening()
        reject(error)
      },
    )
  })
}
