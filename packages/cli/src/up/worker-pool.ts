import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { Duplex } from 'node:stream'
import { type Clock, errorText, formatDuration, type Logger } from '@kubewright/base'
import type { ControlPlane } from '@kubewright/controlplane'
import type { ServerIdentity } from '@kubewright/server'
import { type DurableStore, type MemoryStore, RevisionBoard, serveReplica } from '@kubewright/storage'
import type { CommandContext } from '../command/command-context.ts'
import { drainTimeout } from './assemble-plane.ts'
import type { PlaneOptions } from './plane-options.ts'
import { type FromWorker, storeDescriptor, type ToWorker, type UpFlagValues } from './worker-messages.ts'

/** The parts of the main process that {@link WorkerPool} uses. */
export interface WorkerPoolParts extends Pick<CommandContext, 'env' | 'clock' | 'note'> {
  /** The command line of a worker. */
  readonly program: readonly string[]
  /** The store that the workers replicate; undefined when they connect to etcd. */
  readonly store: MemoryStore | DurableStore | undefined
  readonly identity: ServerIdentity
  readonly plane: ControlPlane
  /** Receives the audit events of the workers. */
  readonly audit: ((line: string) => void) | undefined
  readonly log: Logger
}

const shortestDelay = 500
const longestDelay = 30_000
/** After a worker that has lived for so long, the next delay is the shortest again. */
const healthyMillis = 60_000
/** Milliseconds beyond the drain timeout after which a worker that does not stop is killed. */
const stopMargin = 2000

/**
 * Starts the worker processes of `up`, restarts those that end, and distributes connections among them and the main process. The main
 * process serves alone until the workers are ready.
 */
export class WorkerPool implements AsyncDisposable {
  readonly #options: PlaneOptions & { readonly flags: UpFlagValues }
  readonly #parts: WorkerPoolParts
  readonly #workers = new Set<Worker>()
  readonly #stop = new AbortController()
  readonly #board: RevisionBoard | undefined
  #running: Promise<unknown> = Promise.resolve()
  #requests = 0

  constructor(options: PlaneOptions & { readonly flags: UpFlagValues }, parts: WorkerPoolParts) {
    this.#options = options
    this.#parts = parts
    this.#board = parts.store && RevisionBoard.follow(parts.store)
  }

  /** The requests that workers have served, of those that have stopped in order. */
  get requests(): number {
    return this.#requests
  }

  /** Starts the workers one after the other, so that the main process keeps a core. Returns at once. */
  start(port: number): void {
    const { workers = 0 } = this.#options
    const loops: Promise<void>[] = []
    this.#running = (async () => {
      for (let i = 1; i <= workers && !this.#stop.signal.aborted; i++) {
        await new Promise<void>((ready) => void loops.push(this.#keep(i, port, ready)))
      }
      await Promise.all(loops)
    })()
  }

  /**
   * Passes a connection to the worker with the fewest. Returns false when the main process should serve it: it gets half as many as a
   * worker, because it also makes the writes of all workers.
   */
  route(socket: Socket, ownConnections: number): boolean {
    let chosen: Worker | undefined
    let fewest = ownConnections * 2 + 1
    for (const worker of this.#workers) {
      if (!worker.isReady || worker.connections >= fewest) continue
      chosen = worker
      fewest = worker.connections
    }
    return chosen?.pass(socket) ?? false
  }

  /** Makes the readiness checks of all workers fail. */
  drain(): void {
    for (const worker of this.#workers) worker.send({ type: 'drain' })
  }

  /** Lets the workers finish their requests, within the drain timeout, and ends them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    const { clock } = this.#parts
    await Promise.all([...this.#workers].map((worker) => worker.stop(clock)))
    await this.#running
    this.#board?.[Symbol.dispose]()
  }

  /** Runs one worker after the other under the same number, until the pool stops. Calls `ready` when the first is ready or has ended. */
  async #keep(number: number, port: number, ready: () => void): Promise<void> {
    const { clock, log } = this.#parts
    const { signal } = this.#stop
    let delay = shortestDelay
    while (!signal.aborted) {
      const startedAt = clock.monotonic()
      const worker = new Worker(this.#options, this.#parts, this.#board, port, () => {
        log.info('Worker is ready', { worker: number, pid: worker.pid })
        ready()
      })
      this.#workers.add(worker)
      const reason = await worker.ended
      this.#workers.delete(worker)
      this.#requests += worker.requests
      ready()
      if (signal.aborted) return
      if (clock.monotonic() - startedAt > healthyMillis) delay = shortestDelay
      log.warn('Worker ended; restarting', { worker: number, pid: worker.pid, reason, after: formatDuration(delay) })
      await clock.sleep(delay, { signal }).catch(() => undefined)
      delay = Math.min(delay * 2, longestDelay)
    }
  }
}

/** One worker process. */
class Worker {
  readonly #child: ChildProcess
  readonly #parts: WorkerPoolParts
  readonly #logs = new Map<number, AbortController>()
  /** The connections that the worker has not confirmed yet, by id. */
  readonly #passing = new Map<number, Socket>()
  #lastId = 0
  /** Resolves with the reason when the process has ended. */
  readonly ended: Promise<string>
  isReady = false
  /** The open connections of the worker, and those on their way to it. */
  connections = 0
  requests = 0

  constructor(
    options: PlaneOptions & { readonly flags: UpFlagValues },
    parts: WorkerPoolParts,
    board: RevisionBoard | undefined,
    port: number,
    ready: () => void,
  ) {
    this.#parts = parts
    const [node = process.execPath, ...args] = parts.program
    const child = spawn(node, args, {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', 'pipe', board?.descriptor ?? 'ignore'],
      serialization: 'advanced',
      env: parts.env,
    })
    this.#child = child
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
      child.once('error', (error) => resolve(errorText(error)))
    })
    void this.ended.then(() => this.#end())
    for (const stream of [child.stdout, child.stderr]) {
      if (stream) createInterface({ input: stream }).on('line', (line) => parts.note(line))
    }
    const channel = child.stdio[storeDescriptor] as Duplex | null | undefined
    if (parts.store && channel) void serveReplica(parts.store, channel)
    else channel?.on('error', () => undefined)
    child.on('message', (message) => this.#receive(message as FromWorker, ready))
    const { apiServer: _, ...plain } = options
    this.send({
      type: 'start',
      flags: options.flags,
      options: plain,
      identity: parts.identity,
      port,
      hasBoard: board !== undefined,
      simulatedNodes: simulatedNodes(options.nodes, parts.plane),
    })
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  send(message: ToWorker): void {
    // The process may end between the check and the send: the exit is handled, errors of the channel are not needed.
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }

  /** Sends a connection to the worker. Returns false if the process has ended. */
  pass(socket: Socket): boolean {
    if (!this.#child.connected) return false
    this.connections++
    const id = ++this.#lastId
    // This process keeps its copy until the worker confirms: the system reports nothing about a socket on the way to a killed process.
    this.#passing.set(id, socket)
    const message: ToWorker = { type: 'connection', id }
    this.#child.send(message, socket, { keepOpen: true }, (error) => {
      if (error) this.#passed(id)
    })
    return true
  }

  /** Closes this process's copy of a connection. The connection itself closes only if no worker has it. */
  #passed(id: number): void {
    this.#passing.get(id)?.destroy()
    this.#passing.delete(id)
  }

  async stop(clock: Clock): Promise<void> {
    this.isReady = false
    this.send({ type: 'stop' })
    const timer = clock.setTimer(drainTimeout + stopMargin, () => this.#child.kill('SIGKILL'), 'stop worker')
    await this.ended
    timer.cancel()
  }

  #receive(message: FromWorker, ready: () => void): void {
    switch (message.type) {
      case 'ready':
        this.isReady = true
        ready()
        return
      case 'connections':
        for (const id of message.arrived) this.#passed(id)
        this.connections -= message.closed
        return
      case 'audit':
        for (const line of message.lines) this.#parts.audit?.(line)
        return
      case 'stopped':
        this.requests = message.requests
        return
      case 'log':
        void this.#readLog(message)
        return
      case 'log-cancel':
        this.#logs.get(message.id)?.abort()
    }
  }

  /** Reads the log of a container of a simulated node for a request that the worker serves. */
  async #readLog({ id, request }: Extract<FromWorker, { readonly type: 'log' }>): Promise<void> {
    const cancel = new AbortController()
    this.#logs.set(id, cancel)
    let error: string | undefined
    try {
      const { nodes } = this.#parts.plane.controllers
      for await (const line of nodes?.logs({ ...request, signal: cancel.signal }) ?? []) {
        this.send({ type: 'log-line', id, line })
      }
    } catch (problem) {
      error = errorText(problem)
    }
    this.#logs.delete(id)
    this.send({ type: 'log-end', id, error })
  }

  #end(): void {
    this.isReady = false
    for (const cancel of this.#logs.values()) cancel.abort()
    for (const id of [...this.#passing.keys()]) this.#passed(id)
  }
}

function simulatedNodes(count: number, { controllers }: ControlPlane): ReadonlyMap<string, string> {
  const names = Array.from({ length: count }, (_, index) => `node-${index + 1}`)
  return new Map(names.map((name) => [name, controllers.nodes?.refusesStreams?.(name) ?? '']))
}
