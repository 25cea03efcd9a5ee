import { availableParallelism } from 'node:os'
import { UsageError } from '@kubewright/base'

/** More processes than this cost memory and copies of every change, and no machine has the cores for them. */
const maxWorkers = 64

/** Parses `--workers`: a number, or `auto` for one worker per core besides the one of the main process. */
export function workersOf(text: string, flag: string): number {
  if (text === 'auto') return Math.min(maxWorkers, availableParallelism() - 1)
  const count = Number(text)
  if (!/^\d+$/.test(text) || count > maxWorkers) {
    throw new UsageError(`${flag} must be a number from 0 to ${maxWorkers} or auto, not "${text}"`)
  }
  return count
}
