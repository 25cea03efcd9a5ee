// Records what 16 concurrent clients of a store do and see while it fails, and checks the record: every key is linearizable, ranges are
// the state at one revision, watches are complete and in order, no revision is used twice.
import { seededRandom } from '@kubewright/base'
import { startEtcdCluster } from '../../../packages/storage/src/testdata/etcd-cluster.ts'
import { ServerGroup } from '../../servers/server-group.ts'
import { Monkey } from '../chaos/monkey.ts'
import { checkHistory } from './check-history.ts'
import type { Violation } from './history.ts'
import { runLive } from './live-run.ts'
import { type RunCounts, type SimulatedRun, type SimulationOptions, simulateStore } from './simulate-store.ts'

export const storeBackends = ['memory', 'durable', 'etcd', 'servers'] as const

/** Options of {@link fuzzStore}. */
export interface FuzzStoreOptions extends Pick<SimulationOptions, 'spoilDisk' | 'spoilStore'> {
  readonly seed: string
  /** Memory and durable are simulated and reproducible. etcd has three members; servers are three on such a cluster. */
  readonly backend: (typeof storeBackends)[number]
  readonly operations: number
  /** The mean time between two kills of a real process, in milliseconds. @default 2000 */
  readonly killEvery?: number
  readonly onProgress?: (report: RunCounts) => void
}

/** The figures of all runs. */
export interface FuzzStoreReport extends RunCounts {
  readonly violations: readonly Violation[]
  /** The run with the violations. */
  readonly failed: { readonly seed: string; readonly operations: number } | undefined
}

/** The length of one run. Each starts with an empty store. */
const runOperations = { memory: 3000, durable: 3000, etcd: 20_000, servers: 10_000 } as const

/** Makes runs, each with a seed of its own, until there are enough operations or violations. */
export async function fuzzStore(options: FuzzStoreOptions): Promise<FuzzStoreReport> {
  const { backend, seed } = options
  if (backend === 'memory' || backend === 'durable')
    return repeat(options, ({ seed: one, operations }) => simulateStore({ ...options, backend, seed: one, operations }))
  await using etcd = await startEtcdCluster(3)
  await using group =
    backend === 'servers' ? await ServerGroup.start(3, etcd.urls, ['--controllers', 'none']) : undefined
  const monkey = new Monkey(group, etcd, seededRandom(seed).fork('monkey'))
  const { killEvery = 2000 } = options
  return await repeat(options, (run) => runLive({ ...run, etcd, group, monkey, killEvery }))
}

async function repeat(
  { seed, backend, operations, onProgress }: FuzzStoreOptions,
  run: (part: { readonly seed: string; readonly operations: number }) => Promise<SimulatedRun>,
): Promise<FuzzStoreReport> {
  let sum: RunCounts = { operations: 0, events: 0, crashes: 0, faults: 0 }
  for (let i = 0; sum.operations < operations; i++) {
    const part = {
      seed: i === 0 ? seed : `${seed}+${i}`,
      operations: Math.min(operations - sum.operations, runOperations[backend]),
    }
    const { counts, violations } = await checked(() => run(part))
    sum = {
      operations: sum.operations + counts.operations,
      events: sum.events + counts.events,
      crashes: sum.crashes + counts.crashes,
      faults: sum.faults + counts.faults,
    }
    onProgress?.(sum)
    if (violations.length > 0) return { ...sum, violations, failed: part }
  }
  return { ...sum, violations: [], failed: undefined }
}

/** A run that cannot go on, as the store does not open any more, is a violation, too. */
async function checked(
  run: () => Promise<SimulatedRun>,
): Promise<{ counts: RunCounts; violations: readonly Violation[] }> {
  try {
    const { counts, history } = await run()
    return { counts, violations: checkHistory(history) }
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return {
      counts: { operations: 0, events: 0, crashes: 0, faults: 0 },
      violations: [{ rule: 'availability', message: `the run ended: ${message}`, part: [] }],
    }
  }
}
