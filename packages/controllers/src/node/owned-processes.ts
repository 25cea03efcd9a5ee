import { type Clock, type Duration, toMillis, withDeadline } from '@kubewright/base'
import type { ProcessHost, ProcessSpec, RunningProcess } from './process-host.ts'

/** Options of {@link OwnedProcesses}. */
export interface OwnedProcessesOptions {
  readonly host: ProcessHost
  readonly clock: Clock
  /** How long processes may take to stop before they are killed. */
  readonly stopGrace: Duration
}

// How long a killed process may take to exit.
const killMillis = 5000
const killedCode = 137

/**
 * Tracks the processes that a host starts for one owner. Disposal stops all of them and waits until they have exited;
 * no process can be started afterwards. Throws an error that names the processes that do not exit in time.
 */
export class OwnedProcesses implements ProcessHost, AsyncDisposable {
  readonly #options: OwnedProcessesOptions
  readonly #running = new Map<RunningProcess, string>()
  #ending: Promise<void> | undefined

  constructor(options: OwnedProcessesOptions) {
    this.#options = options
  }

  start(spec: ProcessSpec): RunningProcess {
    if (this.#ending !== undefined) {
      spec.onLine('Not started: the nodes are being stopped')
      return { exited: Promise.resolve(killedCode), stop: () => undefined }
    }
    const process = this.#options.host.start(spec)
    this.#running.set(process, spec.command.join(' '))
    void process.exited.then(() => this.#running.delete(process))
    return process
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#ending ??= this.#end()
    return this.#ending
  }

  async #end(): Promise<void> {
    const running = [...this.#running]
    if (running.length === 0) return
    const { clock, stopGrace } = this.#options
    const grace = toMillis(stopGrace)
    for (const [process] of running) process.stop(grace)
    const what = `the end of ${running.map(([, command]) => JSON.stringify(command)).join(', ')}`
    await withDeadline(clock, grace + killMillis, what, () => Promise.all(running.map(([{ exited }]) => exited)))
  }
}
