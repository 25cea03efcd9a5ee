import { readFileSync } from 'node:fs'
import type { Http2Client } from './http2-client.ts'

/** An API server in processes of its own. */
export interface BenchedServer extends AsyncDisposable {
  /** From the start of the processes until requests were answered. */
  readonly readyMillis: number
  /** What that took of all cores. */
  readonly readyCpuMillis: number
  /** What its processes have taken of all cores so far. */
  cpuMillis(): number
  residentMiB(): number
  client(): Http2Client
}

/** Ticks of /proc are hundredths of a second on Linux. */
const tickMillis = 10

/** What a process has taken of all cores. */
export function processCpuMillis(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name in the second field may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * tickMillis
}

/** The memory that a process holds. */
export function processResidentMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}
