import type { Awaitable } from '@kubewright/base'

// The steps of a request return an Awaitable where they rarely have to wait: with a promise for each step, a get had 72 promises and a
// create 224, which took longer than the work itself.

/** Continues with a value, at once if it need not be waited for. */
export function andThen<T, R>(value: Awaitable<T>, next: (value: T) => Awaitable<R>): Awaitable<R> {
  return value instanceof Promise ? value.then(next) : next(value)
}

/** Runs a step and continues with its result or its failure, whether it returns or throws at once or later. */
export function settle<T, R>(
  step: () => Awaitable<T>,
  done: (value: T) => R,
  failed: (error: unknown) => R,
): Awaitable<R> {
  let value: Awaitable<T>
  try {
    value = step()
  } catch (error) {
    return failed(error)
  }
  return value instanceof Promise ? value.then(done, failed) : done(value)
}
