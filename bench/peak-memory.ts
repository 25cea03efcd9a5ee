import { readFileSync } from 'node:fs'

/** Returns the peak resident memory of this process. */
export function peakMiB(): number {
  // On Linux, `maxRSS` of a new process starts with the peak of the process that started it.
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS / 1024
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) / 1024
}
