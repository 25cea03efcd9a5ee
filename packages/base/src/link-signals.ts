import { onAbort } from './on-abort.ts'

/** An abort controller whose signal follows other signals. Disposing it stops following them. */
export interface LinkedController extends Disposable {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
}

/**
 * Creates a controller whose signal aborts with the reason of the first parent signal that aborts, or when `abort` is
 * called. Dispose it when the work is done: unlike AbortSignal.any, it then leaves no listener on a long-lived parent.
 */
export function linkSignals(...parents: readonly (AbortSignal | undefined)[]): LinkedController {
  const controller = new AbortController()
  const followed: (() => void)[] = []
  const unlink = (): void => {
    for (const stopListening of followed.splice(0)) stopListening()
  }
  const abort = (reason?: unknown): void => {
    unlink()
    controller.abort(reason)
  }
  for (const parent of parents) {
    // After an abort, a listener on a further parent would leak.
    if (parent !== undefined && !controller.signal.aborted) followed.push(onAbort(parent, () => abort(parent.reason)))
  }
  return { signal: controller.signal, abort, [Symbol.dispose]: unlink }
}

/**
 * Settles like `promise`, but rejects with the signal's reason as soon as the signal aborts. The work behind the
 * promise continues unobserved: use this only for work that cannot be cancelled.
 */
export function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal?.reason))
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
