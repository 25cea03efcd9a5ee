// The figures that the programs of the control plane benchmark report.
import { peakMiB } from '../peak-memory.ts'

/** The cost of a piece of work. */
export interface Taken {
  readonly wallMillis: number
  readonly cpuMillis: number
  /** The peak memory of the process so far. */
  readonly peakMiB: number
}

/** Runs the work once and measures it. */
export async function taken(work: () => Promise<unknown>): Promise<Taken> {
  const wall = performance.now()
  const cpu = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return {
    wallMillis: performance.now() - wall,
    cpuMillis: (user + system) / 1000,
    peakMiB: peakMiB(),
  }
}

/** Returns the cost of the process since its start. */
export function takenSoFar(): Taken {
  const { user, system } = process.cpuUsage()
  return { wallMillis: performance.now(), cpuMillis: (user + system) / 1000, peakMiB: peakMiB() }
}

/** Prints the figures for the parent process. */
export function report(figures: object): void {
  process.stdout.write(`${JSON.stringify(figures)}\n`)
}
