import { onAbort } from './on-abort.ts'

/** A controller whose signal also follows other signals; disposing it stops following them. */
export interface LinkedController extends Disposable {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
}

/**
 * Makes a controller whose signal aborts when any of the given signals does, with the same reason, or when it is aborted itself.
 * Dispose it when the work is done: unlike with AbortSignal.any, nothing then hangs on a long-lived parent.
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
    // Once aborted, listening to further parents would only leave something behind.
    if (parent !== undefined && !controller.signal.aborted) followed.push(onAbort(parent, () => abort(parent.reason)))
  }
  return { signal: controller.signal, abort, [Symbol.dispose]: unlink }
}

/**
 * Follows `promise`, but rejects with the signal's reason as soon as the signal is aborted. The work behind the promise goes on
 * unobserved: use it only for work that cannot be told to stop.
 */
export function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const stopListening = onAbort(signal, () => reject(signal?.reason))
    // Attached even when already aborted, so that a later failure of the work is not an unhandled rejection.
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
