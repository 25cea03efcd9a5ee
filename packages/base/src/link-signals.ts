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
  const followed: [parent: AbortSignal, listener: () => void][] = []
  const unlink = (): void => {
    for (const [parent, listener] of followed.splice(0)) parent.removeEventListener('abort', listener)
  }
  const abort = (reason?: unknown): void => {
    unlink()
    controller.abort(reason)
  }
  for (const parent of parents) {
    if (parent === undefined) continue
    if (parent.aborted) {
      abort(parent.reason)
      break
    }
    const listener = (): void => abort(parent.reason)
    parent.addEventListener('abort', listener, { once: true })
    followed.push([parent, listener])
  }
  return { signal: controller.signal, abort, [Symbol.dispose]: unlink }
}

/**
 * Follows `promise`, but rejects with the signal's reason as soon as the signal is aborted. The work behind the promise goes on
 * unobserved: use it only for work that cannot be told to stop.
 */
export function abortable<T>(promise: PromiseLike<T>, signal: AbortSignal | undefined): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal?.reason)
    // Attached even when already aborted, so that a later failure of the work is not an unhandled rejection.
    promise.then(
      (value) => {
        signal?.removeEventListener('abort', onAbort)
        resolve(value)
      },
      (error: unknown) => {
        signal?.removeEventListener('abort', onAbort)
        reject(error)
      },
    )
    if (signal?.aborted) onAbort()
    else signal?.addEventListener('abort', onAbort, { once: true })
  })
}
