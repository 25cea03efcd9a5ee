import { Socket } from 'node:net'
import type { ApiHandler, NodeConnector, PodLogRequest } from '@kubewright/api'
import { AsyncDisposer, AsyncQueue, drainMicrotasks } from '@kubewright/base'
import { listen } from '@kubewright/server'
import { openReplicaStore, ReplicaStore, RevisionBoard, type Store } from '@kubewright/storage'
import type { CommandContext } from '../command/command-context.ts'
import { lineLogger } from '../text/line-logger.ts'
import { apiServerOptions } from './api-server-options.ts'
import { assemblePlane, defaultAddress } from './assemble-plane.ts'
import { openBackend } from './open-backend.ts'
import { serverAddresses } from './server-addresses.ts'
import {
  boardDescriptor,
  type FromWorker,
  storeDescriptor,
  type ToWorker,
  type WorkerStart,
} from './worker-messages.ts'

/**
 * Serves the connections that the main process of `up` passes to this process, until the main process asks to stop. The objects are in
 * a replica of the main process's store, or in etcd. Controllers, nodes and all other background work run in the main process.
 */
export async function runWorker(context: CommandContext): Promise<void> {
  const { clock, note } = context
  const messages = new Messages()
  const start = await messages.started
  const { flags, identity, simulatedNodes } = start
  const apiServer = await apiServerOptions(flags, flags['enable-admission-plugins'])
  const options = { ...start.options, apiServer }
  const log = lineLogger(note, options.verbose)
  const disposer = new AsyncDisposer()
  const store = disposer.use(await openStore(start, context))
  const { plane, listening } = await assemblePlane(
    options,
    {
      store,
      identity,
      addresses: serverAddresses(apiServer ?? defaultAddress),
      port: () => start.port,
      audit: apiServer.audit && auditSink(messages),
      clock,
      log,
      disposer,
    },
    {
      controllers: 'none',
      nodes: 0,
      connector: connectorOf(simulatedNodes, messages),
      server: {
        isWorker: true,
        historyFrom: store instanceof ReplicaStore ? store.oldestRevision : undefined,
        components: (name) => {
          const runs =
            name === 'scheduler' ? (apiServer.scheduler ?? options.nodes > 0) : options.controllers !== 'none'
          return runs ? async () => 'ok' : undefined
        },
      },
    },
  )
  let requests = 0
  const mainProcess = process.ppid
  const { feed } = plane.server.parts.registry
  const handler: ApiHandler = async (request) => {
    requests++
    // The channel reports the end of the main process later. Its successor may have acknowledged writes that no longer arrive here.
    if (process.ppid !== mainProcess) process.exit(1)
    // Everything that any process has acknowledged before this request is visible to it: objects, definitions, permissions, policies.
    if (store instanceof ReplicaStore) await feed.reached(await store.sync(), request.signal)
    return plane.server.handler(request)
  }
  const listener = disposer.use(await listen({ handler, ...listening, port: 'none' }))
  messages.onConnection = (socket) => listener.accept(socket)
  messages.onDrain = () => plane.server.drain()
  messages.send({ type: 'ready' })
  await messages.stopped
  await disposer[Symbol.asyncDispose]()
  await messages.flush({ type: 'stopped', requests })
}

async function openStore({ options, hasBoard }: WorkerStart, context: CommandContext): Promise<Store> {
  if (options.backend.kind === 'etcd') return openBackend(options.backend, options.historyBytes, context)
  const channel = new Socket({ fd: storeDescriptor })
  const store = await openReplicaStore(channel, { board: hasBoard ? new RevisionBoard(boardDescriptor) : undefined })
  // The main process has ended, or has disconnected a worker that fell behind.
  channel.once('close', () => process.exit(1))
  return store
}

/** Sends audit events to the main process, those of one turn of the event loop together. */
function auditSink(messages: Messages): (line: string) => void {
  let lines: string[] = []
  return (line) => {
    lines.push(line)
    if (lines.length > 1) return
    void drainMicrotasks().then(() => {
      messages.send({ type: 'audit', lines })
      lines = []
    })
  }
}

/** The simulated nodes of the main process. */
function connectorOf(simulated: ReadonlyMap<string, string>, messages: Messages): NodeConnector {
  return {
    logs: (request) => (simulated.has(request.node) ? messages.readLog(request) : undefined),
    refusesStreams: (node) => simulated.get(node),
  }
}

/** The messages of the main process. */
class Messages {
  /** Resolves with the first message. */
  readonly started: Promise<WorkerStart>
  /** Resolves when the main process asks the worker to stop. */
  readonly stopped: Promise<void>
  onConnection: (socket: Socket) => void = (socket) => socket.destroy()
  onDrain: () => void = () => undefined
  readonly #logs = new Map<number, AsyncQueue<string>>()
  #logId = 0
  #arrived: number[] = []
  #closed = 0

  constructor() {
    let stop = (): void => undefined
    this.stopped = new Promise((resolve) => (stop = resolve))
    this.started = new Promise((resolve) => {
      process.on('message', (message: ToWorker, socket?: Socket) => {
        switch (message.type) {
          case 'start':
            return resolve(message)
          case 'connection':
            return this.#connected(message.id, socket)
          case 'drain':
            return this.onDrain()
          case 'stop':
            return stop()
          case 'log-line':
            return void this.#logs.get(message.id)?.push(message.line)
          case 'log-end':
            return this.#endLog(message.id, message.error)
        }
      })
    })
  }

  /** Serves a connection; the socket is undefined when the client has closed it on its way. */
  #connected(id: number, socket: Socket | undefined): void {
    this.#arrived.push(id)
    this.#reportConnections()
    const closed = (): void => {
      this.#closed++
      this.#reportConnections()
    }
    if (!socket) closed()
    else {
      socket.once('close', closed)
      this.onConnection(socket)
    }
  }

  /** Reports the changes of this turn of the event loop in one message. */
  #reportConnections(): void {
    if (this.#arrived.length + this.#closed > 1) return
    void drainMicrotasks().then(() => {
      this.send({ type: 'connections', arrived: this.#arrived, closed: this.#closed })
      this.#arrived = []
      this.#closed = 0
    })
  }

  send(message: FromWorker): void {
    if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
  }

  /** Sends a message and waits until it was handed to the system. */
  flush(message: FromWorker): Promise<void> {
    return new Promise((resolve) => process.send?.(message, undefined, undefined, () => resolve()))
  }

  async *readLog({ signal, ...request }: PodLogRequest): AsyncIterable<string> {
    const id = ++this.#logId
    const lines = new AsyncQueue<string>()
    this.#logs.set(id, lines)
    this.send({ type: 'log', id, request })
    const cancel = (): void => this.#endLog(id, undefined)
    signal.addEventListener('abort', cancel)
    try {
      yield* lines
    } finally {
      signal.removeEventListener('abort', cancel)
      this.#logs.delete(id)
      this.send({ type: 'log-cancel', id })
    }
  }

  #endLog(id: number, error: string | undefined): void {
    const lines = this.#logs.get(id)
    if (error === undefined) lines?.close()
    else lines?.fail(new Error(error))
  }
}
