/** The result of {@link slowStart}. */
export interface SlowStartResult {
  readonly succeeded: number
  /** The first failure; no further batch was started after it. */
  readonly error?: Error | undefined
}

/**
 * Calls `fn` for each item in batches of 1, 2, 4 ... up to `limit`, and stops after a batch with a failure: an error
 * such as an exceeded quota usually affects all pods. Larger batches would only delay the scheduler and the nodes, which share the
 * process: the pods of a large roll-out would all be created before the first ones run.
 */
export async function slowStart<T>(
  items: readonly T[],
  fn: (item: T) => Promise<unknown>,
  limit: number = 8,
): Promise<SlowStartResult> {
  let succeeded = 0
  for (let start = 0, size = 1; start < items.length; start += size, size = Math.min(size * 2, limit)) {
    const results = await Promise.allSettled(items.slice(start, start + size).map((item) => fn(item)))
    succeeded += results.filter(({ status }) => status === 'fulfilled').length
    const failed = results.find((result) => result.status === 'rejected')
    if (failed?.status === 'rejected') return { succeeded, error: asError(failed.reason) }
  }
  return { succeeded }
}

/** Calls `fn` for all items, at most `limit` concurrently. Throws the first failure after all calls have settled. */
export async function inParallel<T>(
  items: readonly T[],
  fn: (item: T) => Promise<unknown>,
  limit: number = 64,
): Promise<void> {
  let next = 0
  const failures: Error[] = []
  const work = async (): Promise<void> => {
    while (next < items.length) {
      // The index is within bounds.
      const item = items[next++] as T
      try {
        await fn(item)
      } catch (error) {
        failures.push(asError(error))
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work))
  const [first] = failures
  if (first !== undefined) throw first
}

/** Converts a thrown value to an Error. */
export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)))
