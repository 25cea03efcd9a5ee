import { createClient } from '@kubewright/client'
import { createManager, type Operator } from '@kubewright/runtime'
import type { TestEnv } from '@kubewright/testing'
import { CrashingProcess, type CrashPlan, crashingTransport } from './crashing-process.ts'

/** The API requests that each process of the operator made during a crash run. */
export interface CrashRun {
  /** The labels of the calls, by process. */
  readonly calls: readonly (readonly string[])[]
}

const maxProcesses = 300

/**
 * Runs an operator in an environment while `act` runs. Each process of the operator crashes as planned, and the next one
 * starts immediately. A process without a plan runs to the end.
 */
export async function runWithCrashes(
  env: TestEnv,
  operator: (process: CrashingProcess) => Operator,
  planOf: (index: number) => CrashPlan | undefined,
  act: () => Promise<void>,
): Promise<CrashRun> {
  const { clock } = env.controlPlane
  const processes: CrashingProcess[] = []
  let stop = new AbortController()
  let running: Promise<void> = Promise.resolve()
  let isOver = false
  const startNext = (): void => {
    if (isOver) return
    if (processes.length > maxProcesses) throw new Error(`The operator makes no progress after ${maxProcesses} crashes`)
    const process = new CrashingProcess(planOf(processes.length))
    processes.push(process)
    const client = createClient({ transport: crashingTransport(env.controlPlane.transport(), process), clock })
    // Without leader election the next process starts immediately. Leader election has tests of its own.
    const options = { operator: operator(process), client, clock, gracefulTimeout: 0, leaderElection: false } as const
    stop = new AbortController()
    const own = stop
    running = createManager(options).start({ signal: stop.signal })
    // A crashed process reports nothing, so ignore errors of its remains.
    running.catch(() => undefined)
    void process.crashed.then(() => {
      own.abort()
      startNext()
    })
  }
  startNext()
  try {
    await act()
  } finally {
    isOver = true
    stop.abort()
    await running.catch((error: unknown) => {
      if (processes.at(-1)?.hasCrashed !== true) throw error
    })
  }
  return { calls: processes.map(({ calls }) => calls) }
}

/** Whether a call changes the state of the cluster. Events do not count. */
export const isWrite = (label: string): boolean => /^(POST|PUT|PATCH|DELETE)/.test(label) && !label.includes('/events')

/**
 * Makes a call to something outside of the cluster. A rejection is a result, too: a process that crashes does not
 * receive it.
 */
export async function externalCall<T>(
  process: CrashingProcess,
  label: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const result = await process.call(label, signal, () =>
    work().then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error
      },
    ),
  )
  return result()
}
