import { type ProcessHost, type ProcessSpec, type RunningProcess, systemProcessHost } from '@kubewright/controllers'

/** Runs programs on this machine, and ends them all when it is disposed. */
export class MachineProcesses implements ProcessHost, AsyncDisposable {
  readonly #host = systemProcessHost()
  readonly #running = new Set<RunningProcess>()

  start(spec: ProcessSpec): RunningProcess {
    const process = this.#host.start(spec)
    this.#running.add(process)
    void process.exited.then(() => this.#running.delete(process))
    return process
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const running = [...this.#running]
    for (const process of running) process.stop(0)
    await Promise.all(running.map(({ exited }) => exited))
  }
}
