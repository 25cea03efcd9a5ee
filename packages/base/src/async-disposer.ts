/**
 * Collects what has to be undone and undoes it in reverse order: AsyncDisposableStack for the Node versions that lack it.
 * Each step is awaited before the one below it starts, and a step that fails does not keep the others from running.
 */
export class AsyncDisposer implements AsyncDisposable {
  // Oldest first; undefined once disposal has begun.
  #steps: (() => unknown)[] | undefined = []
  #disposal: Promise<void> | undefined

  /** Whether disposal has begun. */
  get disposed(): boolean {
    return this.#disposal !== undefined
  }

  /** Adds a function to be called on disposal. */
  defer(fn: () => unknown): void {
    if (this.#steps === undefined) throw new ReferenceError('Cannot add to AsyncDisposer: it is disposed')
    this.#steps.push(fn)
  }

  /** Adds a resource to be disposed and returns it; null and undefined are let through. */
  use<T extends AsyncDisposable | Disposable | null | undefined>(resource: T): T {
    if (resource === null || resource === undefined) return resource
    // The check is for callers without types; with both methods the asynchronous one is meant.
    const dispose = Symbol.asyncDispose in resource ? resource[Symbol.asyncDispose] : resource[Symbol.dispose]
    if (typeof dispose !== 'function')
      throw new TypeError('Cannot use resource: it has no [Symbol.asyncDispose] or [Symbol.dispose]')
    this.defer(() => dispose.call(resource))
    return resource
  }

  /** Adds a value that is undone by `onDispose` and returns it. */
  adopt<T>(value: T, onDispose: (value: T) => unknown): T {
    this.defer(() => onDispose(value))
    return value
  }

  /** Hands everything over to a new disposer and leaves this one disposed: the end of a constructor that may fail half-way. */
  move(): AsyncDisposer {
    if (this.#steps === undefined) throw new ReferenceError('Cannot move AsyncDisposer: it is disposed')
    const heir = new AsyncDisposer()
    heir.#steps = this.#steps
    this.#steps = undefined
    this.#disposal = Promise.resolve()
    return heir
  }

  /**
   * Undoes everything; calling it again gives the same promise. One failure is rethrown as it is, several as an AggregateError
   * in the order in which they happened.
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
      `${errors.length} of ${total} disposals failed: ${errors.map(messageOf).join('; ')}`,
    )
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
