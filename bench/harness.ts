// Measures by ratio. Contenders of a row run in turns within one process, round after round, so that load from elsewhere hits them
// alike; the figure of a contender is its best round, in CPU microseconds per operation. Compare within a row, never across machines.

/** One way of doing a row's work. */
export interface Contender {
  readonly name: string
  /** Does the work once. The result is kept, so that it cannot be optimised away. */
  readonly run: () => unknown
}

/** A row of the results page: our way first, then the peers. */
export interface Row {
  readonly title: string
  readonly ours: () => unknown
  readonly peers?: Readonly<Record<string, () => unknown>>
  /** What is not the same between us and a peer. */
  readonly note?: string
  /** An aim in microseconds, shown beside our figure. */
  readonly aim?: number
  /** The contenders return promises, and each call waits for the one before. The time that passes is then shown, too. */
  readonly async?: boolean
  /** How many operations one call makes; figures are per operation. @default 1 */
  readonly operations?: number
}

/** A file of `bench/` exports one of these as `suite`. */
export interface Suite {
  readonly title: string
  readonly about: string
  readonly rows?: readonly Row[] | (() => Promise<readonly Row[]>)
  /** Measures in a way of its own (whole processes, say) and returns the lines of a table in Markdown. */
  readonly report?: () => Promise<readonly string[]>
}

export interface Figure {
  readonly name: string
  readonly micros: number
  /** Microseconds that passed per operation, in the best round: what waiting for a disk adds. */
  readonly elapsed: number
  readonly spread: number
}

export interface RowResult {
  readonly row: Row
  readonly figures: readonly Figure[]
}

const rounds = 9
const roundMicros = 60_000
// Servers run for weeks: what counts is the code once it has been optimised, which large pieces of it take a while to be.
const warmUpMicros = 400_000

let sink: unknown

function cpuMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

type Repeat = (run: () => unknown, count: number) => void | Promise<void>

const repeatSync: Repeat = (run, count) => {
  for (let i = 0; i < count; i++) sink = run()
}

const repeatAsync: Repeat = async (run, count) => {
  for (let i = 0; i < count; i++) sink = await run()
}

/** How many calls fill a round. */
async function calibrate(run: () => unknown, repeat: Repeat): Promise<number> {
  for (let n = 1; ; n *= 2) {
    const start = cpuMicros()
    await repeat(run, n)
    const spent = cpuMicros() - start
    if (spent > roundMicros / 4) return Math.max(1, Math.round((n * roundMicros) / spent))
    if (n > 2 ** 26) return n
  }
}

/** Runs a row's contenders in turns. */
export async function measure(row: Row): Promise<RowResult> {
  const repeat = row.async ? repeatAsync : repeatSync
  const operations = row.operations ?? 1
  const contenders: Contender[] = [
    { name: 'kubewright', run: row.ours },
    ...Object.entries(row.peers ?? {}).map(([name, run]) => ({ name, run })),
  ]
  // Once, not between rounds: a forced collection also throws away optimised code that refers to what was collected.
  globalThis.gc?.()
  const counts: number[] = []
  for (const { run } of contenders) {
    const start = cpuMicros()
    while (cpuMicros() - start < warmUpMicros) await repeat(run, await calibrate(run, repeat))
    counts.push(await calibrate(run, repeat))
  }
  const samples = contenders.map((): { cpu: number; elapsed: number }[] => [])
  for (let round = 0; round < rounds; round++) {
    for (const [i, { run }] of contenders.entries()) {
      const count = counts[i]!
      const wall = performance.now()
      const start = cpuMicros()
      await repeat(run, count)
      const cpu = (cpuMicros() - start) / count / operations
      samples[i]!.push({ cpu, elapsed: ((performance.now() - wall) * 1000) / count / operations })
    }
  }
  const figures = contenders.map(({ name }, i) => {
    const sorted = samples[i]!.map(({ cpu }) => cpu).toSorted((a, b) => a - b)
    const micros = sorted[0]!
    const elapsed = Math.min(...samples[i]!.map((sample) => sample.elapsed))
    return { name, micros, elapsed, spread: sorted[Math.floor(sorted.length / 2)]! / micros - 1 }
  })
  return { row, figures }
}

/** Keeps the sink alive for the optimiser. */
export function lastResult(): unknown {
  return sink
}
