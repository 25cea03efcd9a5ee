// Measures ratios. The contenders of a row run in turn within one process, round after round, so that other load
// affects them equally. The figure of a contender is its best round, in CPU microseconds per operation. Compare figures
// within a row, never across machines.

/** One implementation of a row's work. */
export interface Contender {
  readonly name: string
  /** Does the work once. The result is kept, so that the optimiser cannot remove the work. */
  readonly run: () => unknown
}

/** A row of the results: Kubewright first, then the peers. */
export interface Row {
  readonly title: string
  readonly ours: () => unknown
  readonly peers?: Readonly<Record<string, () => unknown>>
  /** A difference between Kubewright and a peer. */
  readonly note?: string
  /** The target in microseconds, shown next to our figure. */
  readonly aim?: number
  /**
   * Whether the contenders return promises. Each call waits for the previous one, and the elapsed time is shown too.
   */
  readonly async?: boolean
  /** The number of operations per call. Figures are per operation. @default 1 */
  readonly operations?: number
}

/** Each `*.bench.ts` file exports a suite as `suite`. */
export interface Suite {
  readonly title: string
  readonly about: string
  readonly rows?: readonly Row[] | (() => Promise<readonly Row[]>)
  /** Runs its own measurement, for example of complete processes, and returns the lines of a Markdown table. */
  readonly report?: () => Promise<readonly string[]>
}

export interface Figure {
  readonly name: string
  readonly micros: number
  /** Elapsed microseconds per operation in the best round; includes waiting for the disk. */
  readonly elapsed: number
  readonly spread: number
}

export interface RowResult {
  readonly row: Row
  readonly figures: readonly Figure[]
}

const rounds = 9
const roundMicros = 60_000
// Servers run for weeks, so the benchmark measures optimised code. Large functions take a while to be optimised.
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

/** Returns the number of calls that fill a round. */
async function calibrate(run: () => unknown, repeat: Repeat): Promise<number> {
  for (let n = 1; ; n *= 2) {
    const start = cpuMicros()
    await repeat(run, n)
    const spent = cpuMicros() - start
    if (spent > roundMicros / 4) return Math.max(1, Math.round((n * roundMicros) / spent))
    if (n > 2 ** 26) return n
  }
}

/** Runs the contenders of a row in turn. */
export async function measure(row: Row): Promise<RowResult> {
  const repeat = row.async ? repeatAsync : repeatSync
  const operations = row.operations ?? 1
  const contenders: Contender[] = [
    { name: 'kubewright', run: row.ours },
    ...Object.entries(row.peers ?? {}).map(([name, run]) => ({ name, run })),
  ]
  // Once, not between rounds: a forced collection also discards optimised code that refers to collected objects.
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

/** Prevents the optimiser from removing the sink. */
export function lastResult(): unknown {
  return sink
}
