import { errorText } from './error-text.ts'
/**
 * Runs cleanup functions in reverse order of registration: a substitute for AsyncDisposableStack on Node versions that
 * lack it. Each function is awaited before the previous one runs. A failure does not prevent the remaining functions
 * from running.
 */
export class AsyncDisposer implements AsyncDisposable {
  // In order of registration; undefined once disposal has begun.
  #steps: (() => unknown)[] | undefined = []
  #disposal: Promise<void> | undefined

  /** Whether disposal has begun. */
  get disposed(): boolean {
    return this.#disposal !== undefined
  }

  /** Registers a function to call on disposal. */
  defer(fn: () => unknown): void {
    if (this.#steps === undefined) throw new ReferenceError('Cannot add to AsyncDisposer: it is disposed')
    this.#steps.push(fn)
  }

  /** Registers a resource to dispose and returns it. Null and undefined are returned unchanged. */
  use<T extends AsyncDisposable | Disposable | null | undefined>(resource: T): T {
    if (resource === null || resource === undefined) return resource
    // Callers without types may pass anything. A resource that has both methods is disposed asynchronously.
    const dispose = Symbol.asyncDispose in resource ? resource[Symbol.asyncDispose] : resource[Symbol.dispose]
    if (typeof dispose !== 'function')
      throw new TypeError('Cannot use resource: it has no [Symbol.asyncDispose] or [Symbol.dispose]')
    this.defer(() => dispose.call(resource))
    return resource
  }

  /** Registers `onDispose(value)` as a cleanup and returns the value. */
  adopt<T>(value: T, onDispose: (value: T) => unknown): T {
    this.defer(() => onDispose(value))
    return value
  }

  /**
   * Moves all cleanups to a new disposer and marks this one as disposed without running them. Constructors use this: a
   * failure half-way disposes what was acquired so far, and success hands it to the finished object.
   */
  move(): AsyncDisposer {
    if (this.#steps === undefined) throw new ReferenceError('Cannot move AsyncDisposer: it is disposed')
    const successor = new AsyncDisposer()
    successor.#steps = this.#steps
    this.#steps = undefined
    this.#disposal = Promise.resolve()
    return successor
  }

  /**
   * Runs all cleanups. Further calls return the same promise. A single failure is rethrown unchanged; several are
   * rethrown as one AggregateError, in the order in which they occurred.
   */
  disposeAsync(): Promise<void> {
    const steps = this.#steps ?? []
    this.#steps = undefined
    this.#disposal ??= disposeAll(steps)
    return this.#disposal
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.disposeAsync()
  }
}

async function disposeAll(steps: (() => unknown)[]): Promise<void> {
  const total = steps.length
  const errors: unknown[] = []
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    try {
      await step()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length === 1) throw errors[0]
  if (errors.length > 1)
    throw new AggregateError(
      errors,
      `${errors.length} of ${total} disposals failed: ${errors.map(errorText).join('; ')}`,
    )
}
