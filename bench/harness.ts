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
}

/** A file of `bench/` exports one of these as `suite`. */
export interface Suite {
  readonly title: string
  readonly about: string
  readonly rows: readonly Row[] | (() => Promise<readonly Row[]>)
}

export interface Figure {
  readonly name: string
  readonly micros: number
  readonly spread: number
}

export interface RowResult {
  readonly row: Row
  readonly figures: readonly Figure[]
}

const rounds = 9
const roundMicros = 60_000

let sink: unknown

function cpuMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** How many calls fill a round. */
function calibrate(run: () => unknown): number {
  for (let n = 1; ; n *= 2) {
    const start = cpuMicros()
    for (let i = 0; i < n; i++) sink = run()
    const spent = cpuMicros() - start
    if (spent > roundMicros / 4) return Math.max(1, Math.round((n * roundMicros) / spent))
    if (n > 2 ** 26) return n
  }
}

/** Runs a row's contenders in turns. */
export function measure(row: Row): RowResult {
  const contenders: Contender[] = [
    { name: 'kubewright', run: row.ours },
    ...Object.entries(row.peers ?? {}).map(([name, run]) => ({ name, run })),
  ]
  const counts = contenders.map((c) => calibrate(c.run))
  const samples = contenders.map((): number[] => [])
  for (let round = 0; round < rounds; round++) {
    contenders.forEach((contender, i) => {
      const count = counts[i]!
      globalThis.gc?.()
      const start = cpuMicros()
      for (let n = 0; n < count; n++) sink = contender.run()
      samples[i]!.push((cpuMicros() - start) / count)
    })
  }
  const figures = contenders.map(({ name }, i) => {
    const sorted = samples[i]!.toSorted((a, b) => a - b)
    const micros = sorted[0]!
    return { name, micros, spread: sorted[Math.floor(sorted.length / 2)]! / micros - 1 }
  })
  return { row, figures }
}

/** Keeps the sink alive for the optimiser. */
export function lastResult(): unknown {
  return sink
}
