/**
 * The environments of a process that start at the same time. More of them would not start sooner, because they share a thread, but what
 * each needs during its start would be in memory at once.
 */
const startsAtOnce = 2

let starting = 0
const waiting: (() => void)[] = []

/** Starts an environment when it is its turn. A start that fails gives its turn to the next one. */
export async function startInTurn<T>(start: () => Promise<T>): Promise<T> {
  if (starting < startsAtOnce) starting++
  else await new Promise<void>((resolve) => waiting.push(resolve))
  try {
    return await start()
  } finally {
    const next = waiting.shift()
    if (next === undefined) starting--
    else next()
  }
}
