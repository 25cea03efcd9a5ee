// What the programs of the control plane's benchmark tell about themselves.

/** What a piece of work took. */
export interface Taken {
  readonly wallMillis: number
  readonly cpuMillis: number
  /** The most memory that the process had until then. */
  readonly peakMiB: number
}

/** Does something once. */
export async function taken(work: () => Promise<unknown>): Promise<Taken> {
  const wall = performance.now()
  const cpu = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return {
    wallMillis: performance.now() - wall,
    cpuMillis: (user + system) / 1000,
    peakMiB: process.resourceUsage().maxRSS / 1024,
  }
}

/** Tells the parent. */
export function report(figures: object): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`)
}
