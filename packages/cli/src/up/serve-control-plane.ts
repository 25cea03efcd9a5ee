import { hostname } from 'node:os'
import { AsyncDisposer, isKubewrightError, type Logger, toMillis, UsageError } from '@kubewright/base'
import { type ControlPlane, chooseControllers, kubeconfigFor } from '@kubewright/controlplane'
import { adminUser, type Listener, listen } from '@kubewright/server'
import { DurableStore, MemoryStore, type Store } from '@kubewright/storage'
import type { CommandContext } from '../command/command-context.ts'
import type { AuditLogOptions } from './api-server-options.ts'
import { assemblePlane, defaultAddress } from './assemble-plane.ts'
import { auditSink } from './audit-sink.ts'
import { freeKubeconfig } from './free-kubeconfig.ts'
import { identityOf, openBackend } from './open-backend.ts'
import type { PlaneOptions } from './plane-options.ts'
import { writePrivateFile } from './private-file.ts'
import { RotatingFile } from './rotating-file.ts'
import { exposure, serverAddresses, urlOf } from './server-addresses.ts'
import { withFolder } from './with-folder.ts'
import type { WorkerPool, WorkerPoolParts } from './worker-pool.ts'

/** A control plane that is served over HTTPS, with its kubeconfig. Disposing it stops the server and closes the store. */
export interface ServedControlPlane extends AsyncDisposable {
  readonly plane: ControlPlane
  readonly store: Store
  readonly url: string
  /** What other machines can reach, one line each. Empty for a server on a loopback address. */
  readonly exposure: readonly string[]
  /** The absolute path of the kubeconfig. */
  readonly kubeconfig: string
  /** The names of the running controllers. */
  readonly controllers: readonly string[]
  /** The number of requests so far, without those of its own controllers. */
  readonly requests: () => number
  /** Disposes a resource before the control plane stops. */
  onStop(resource: AsyncDisposable): void
  /**
   * Prepares the stop: the readiness check fails, other servers on the same store take over, and requests are served for the shutdown delay.
   * Disposal then lets requests in progress finish.
   */
  drain(): Promise<void>
}

/** Starts a control plane, serves it on the loopback address or the bind address, and writes the kubeconfig. */
export async function serveControlPlane(
  options: PlaneOptions,
  context: CommandContext,
  log: Logger,
): Promise<ServedControlPlane> {
  const { clock } = context
  const controllers = await chosenControllers(options.controllers)
  const { apiServer } = options
  const addresses = serverAddresses(apiServer ?? defaultAddress)
  const disposer = new AsyncDisposer()
  try {
    // The store first: its lock also prevents two servers from generating keys in the same folder.
    const store = disposer.use(await openBackend(options.backend, options.historyBytes, context))
    const identity = await identityOf(options.backend, clock.now(), addresses.certified)
    let port = options.port
    const audit = apiServer?.audit && openAuditLog(apiServer.audit, context, log, disposer)
    const parts = { store, identity, addresses, port: () => port, audit, clock, log, disposer }
    const { plane, rootCa, listening } = await assemblePlane({ ...options, controllers }, parts, {})
    let requests = 0
    const workers = await workerPool(options, { store, identity, plane, audit, context, log })
    const listener: Listener = await listen({
      handler: (request) => {
        requests++
        return plane.server.handler(request)
      },
      ...listening,
      port,
      ...(workers ? { route: (socket) => workers.route(socket, listener.connections) } : {}),
    })
    // At the same time, so that a stop takes the drain timeout once.
    disposer.defer(() => Promise.all([listener[Symbol.asyncDispose](), workers?.[Symbol.asyncDispose]()]))
    port = listener.port
    const presence = disposer.use(
      await plane.server.announce({ hostname: hostname(), port, address: addresses.advertised }),
    )
    const url = urlOf(addresses.local, port)
    const kubeconfig = await freeKubeconfig(options.kubeconfig, port, context)
    const access = kubeconfigFor({ server: url, ca: rootCa, client: identity.admin, user: adminUser })
    await withFolder(
      {
        purpose: 'write the kubeconfig to',
        path: kubeconfig,
        fix: 'choose another file with --kubeconfig FILE',
      },
      () => writePrivateFile(kubeconfig, access),
    )
    workers?.start(port)
    return {
      plane,
      store,
      url,
      exposure: apiServer ? exposure(addresses, port, { ...apiServer, hasToken: options.token !== undefined }) : [],
      kubeconfig,
      controllers: plane.controllers.names,
      requests: () => requests + (workers?.requests ?? 0),
      onStop: (resource) => void disposer.use(resource),
      drain: async () => {
        plane.server.drain()
        workers?.drain()
        const delay = toMillis(options.shutdownDelay ?? 0)
        await Promise.all([
          presence[Symbol.asyncDispose](),
          plane.controllers[Symbol.asyncDispose](),
          ...(delay > 0 ? [clock.sleep(delay)] : []),
        ])
      },
      [Symbol.asyncDispose]: () => disposer[Symbol.asyncDispose](),
    }
  } catch (error) {
    await disposer[Symbol.asyncDispose]()
    throw error
  }
}

/** The workers that the options ask for; undefined for none. */
async function workerPool(
  options: PlaneOptions,
  parts: Omit<WorkerPoolParts, 'program' | 'env' | 'clock' | 'note' | 'store'> & {
    readonly store: Store
    readonly context: CommandContext
  },
): Promise<WorkerPool | undefined> {
  const { flags } = options
  const { store, context, ...others } = parts
  const { workerProgram: program, env, clock, note } = context
  if (!options.workers || !program || !flags) return undefined
  const { WorkerPool } = await import('./worker-pool.ts')
  const local = store instanceof MemoryStore || store instanceof DurableStore ? store : undefined
  return new WorkerPool({ ...options, flags }, { ...others, store: local, program, env, clock, note })
}

/** The controllers that `--controllers` selects. Throws a UsageError for an unknown name. */
async function chosenControllers(choice: PlaneOptions['controllers']): Promise<PlaneOptions['controllers']> {
  try {
    return await chooseControllers(choice)
  } catch (error) {
    // The message begins with the name of the option, which is that of the flag.
    if (isKubewrightError(error, 'KW_CONTROLLER_UNKNOWN')) throw new UsageError(`--${error.message}`)
    throw error
  }
}

/** Opens the audit log. Events to the standard output are lines of it. */
function openAuditLog(
  { path, limits }: AuditLogOptions,
  { clock, out }: CommandContext,
  log: Logger,
  disposer: AsyncDisposer,
): (line: string) => void {
  if (path === '-') return out
  const file = new RotatingFile(path, limits, clock)
  disposer.defer(async () => file[Symbol.dispose]())
  return auditSink(file, clock, log)
}
