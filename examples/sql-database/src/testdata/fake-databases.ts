import type { ProcessHost, ProcessSpec, RunningProcess } from '@kubewright/controllers'
import type { Database } from '../database.ts'
import { LogStore, type StoredState } from '../log-store.ts'

interface Process {
  readonly store: LogStore
  readonly end: (exitCode: number) => void
}

/** A write that was confirmed to a client. */
export interface Confirmation {
  readonly text: string
  readonly epoch: number
}

/**
 * Instances inside this process: the same {@link LogStore} as in the real program, without sockets and files. Programs
 * that its process host starts are its instances. An instance can be cut off from the operator or from the other
 * instances.
 */
export class FakeDatabases {
  readonly confirmed: Confirmation[] = []
  /** URLs that the operator cannot reach. */
  readonly hidden: Set<string> = new Set()
  /** URLs of instances that are cut off from the other instances. */
  readonly isolated: Set<string> = new Set()
  readonly #running = new Map<string, Process>()
  readonly #disks = new Map<string, StoredState>()
  #nextPod = 1

  readonly host: ProcessHost = {
    start: (spec: ProcessSpec): RunningProcess => {
      const flag = (name: string): string =>
        spec.command.find((one) => one.startsWith(`--${name}=`))?.slice(`--${name}=`.length) ?? ''
      // The disk belongs to the pod: it survives a restart of the container, but not of the pod.
      return this.start(`http://${flag('host')}:${flag('port')}`, spec.env['POD_UID'] ?? `pod-${this.#nextPod++}`)
    },
  }

  readonly database: Database = {
    report: async (url) => this.#reach(url).report(),
    promote: async (url, promotion) => this.#reach(url).promote(promotion),
    snapshot: async (url, epoch) => this.#reach(url).snapshot(epoch),
    restore: async (url, restoration) => this.#reach(url).restore(restoration),
  }

  start(url: string, disk: string): RunningProcess {
    let resolve: (exitCode: number) => void = () => undefined
    const exited = new Promise<number>((done) => {
      resolve = done
    })
    const end = (exitCode: number): void => {
      if (this.#running.get(url)?.end === end) this.#running.delete(url)
      resolve(exitCode)
    }
    const store = new LogStore({
      freshId: disk,
      state: this.#disks.get(disk),
      save: (state) => void this.#disks.set(disk, state),
      send: async (peer, append) => {
        const isCut = this.isolated.has(url) || this.isolated.has(peer.url) || this.#running.get(url)?.store !== store
        const other = this.#running.get(peer.url)
        if (isCut || other === undefined) throw new Error(`connect ECONNREFUSED ${peer.url}`)
        return other.store.append(append)
      },
    })
    this.#running.set(url, { store, end })
    return { exited, stop: () => end(0) }
  }

  /** Crashes a process. */
  crash(url: string): void {
    this.#running.get(url)?.end(137)
  }

  /** The process at a URL if it is running. */
  at(url: string): LogStore | undefined {
    return this.#running.get(url)?.store
  }

  /** Writes to any instance that considers itself primary, like clients with outdated information. */
  async writeEverywhere(text: string): Promise<void> {
    for (const [url, { store }] of [...this.#running]) {
      if (store.report().role !== 'primary') continue
      const { epoch } = store.report()
      await store.write(`${text} at ${url}`).then(
        () => void this.confirmed.push({ text: `${text} at ${url}`, epoch }),
        () => undefined,
      )
    }
  }

  /** The number of confirmations in an epoch after one in a higher epoch. More than zero means two primaries. */
  lateConfirmations(): readonly Confirmation[] {
    let highest = 0
    return this.confirmed.filter(({ epoch }) => {
      const isLate = epoch < highest
      highest = Math.max(highest, epoch)
      return isLate
    })
  }

  #reach(url: string): LogStore {
    const process = this.#running.get(url)
    if (process === undefined || this.hidden.has(url)) throw new Error(`connect ECONNREFUSED ${url}`)
    return process.store
  }
}
