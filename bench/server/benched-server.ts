import { readFileSync } from 'node:fs'
import type { SecureClientSessionOptions } from 'node:http2'
import type { Http2Client } from './http2-client.ts'

/** How to connect to an API server. */
export interface Target {
  readonly server: URL
  readonly tls: SecureClientSessionOptions
  readonly headers: Readonly<Record<string, string>>
}

/** An API server in its own processes. */
export interface BenchedServer extends AsyncDisposable {
  /** The time from the start of the processes until requests were answered. */
  readonly readyMillis: number
  /** The CPU time of that period, on all cores. */
  readonly readyCpuMillis: number
  /** Returns the CPU time of all processes so far. */
  cpuMillis(): number
  residentMiB(): number
  client(): Http2Client
  target(): Target
}

/** On Linux, ticks in /proc are hundredths of a second. */
const tickMillis = 10

/** Returns the CPU time of a process. */
export function processCpuMillis(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name in the second field may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * tickMillis
}

/** Returns the resident memory of a process. */
export function processResidentMiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}
