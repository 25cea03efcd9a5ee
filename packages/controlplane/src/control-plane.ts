import {
  AsyncDisposer,
  type Clock,
  type Logger,
  nullLogger,
  onAbort,
  type Random,
  systemClock,
  systemRandom,
  turnWhenDue,
} from '@kubewright/base'
import {
  type ApiClient,
  type ClientOptions,
  createClient,
  inProcessTransport,
  type Transport,
} from '@kubewright/client'
import {
  type AssembledServer,
  type AssembleServerOptions,
  adminUser,
  assembleServer,
  createServerIdentity,
  LocalServers,
  type ServerIdentity,
  ServiceAccountKeys,
  type StaticToken,
  systemOutgoing,
} from '@kubewright/server'
import { type ForkableStore, MemoryStore, type Store } from '@kubewright/storage'
import { chooseControllers } from './choose-controllers.ts'
import { clusterTrust } from './cluster-trust.ts'
import { type ControlPlaneAddress, type ControlPlaneListenOptions, listenWith } from './listen-with.ts'
import type {
  ControllerChoice,
  NodesOptions,
  RunningControllers,
  StartControllersOptions,
} from './start-controllers.ts'

/** What {@link startControlPlane} takes. */
export interface ControlPlaneOptions {
  /** Where objects are kept; stays the caller's. @default in memory, as long as the control plane */
  readonly store?: Store | undefined
  /**
   * The built-in controllers that run: all, none, or those named as kube-controller-manager names them (`-name` leaves one out, `*` stands
   * for all). Names that do not exist are refused. @default 'all'
   */
  readonly controllers?: ControllerChoice | undefined
  /** How many simulated nodes there are, or which, and how containers behave; with 0, pods stay pending. @default 1 */
  readonly nodes?: number | NodesOptions | undefined
  /** Bearer tokens that are known from the start. @default none */
  readonly tokens?: readonly StaticToken[] | undefined
  /**
   * The keys and certificates of the control plane. With them its authority is published in every namespace, as pods expect; without
   * them new ones are made when they are needed. @default none
   */
  readonly identity?: ServerIdentity | undefined
  /** Further options of the API server. */
  readonly server?: Omit<AssembleServerOptions, 'store' | 'clock' | 'random' | 'log' | 'nodes'> | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  /** @default silent */
  readonly log?: Logger | undefined
  /** Stops the control plane when it aborts. */
  readonly signal?: AbortSignal | undefined
}

/** A Kubernetes API server and its controllers in this process. Disposing it stops everything. */
export interface ControlPlane extends AsyncDisposable {
  readonly server: AssembledServer
  readonly clock: Clock
  /** Servers of this process, such as webhooks, that the API server asks without sockets. */
  readonly localServers: LocalServers
  readonly controllers: RunningControllers
  /** A way to the API server without sockets, as the administrator unless the user is named. */
  transport(user?: ControlPlaneUser): Transport
  /** A client of the API server without sockets, as the administrator unless the user is named. */
  client(options?: Partial<ClientOptions> & { readonly user?: ControlPlaneUser }): ApiClient
  /** Serves HTTPS on this machine. May be called several times. */
  listen(options?: ControlPlaneListenOptions): Promise<ControlPlaneAddress>
  /** The state as it is now, from which any number of control planes can be started. Only for stores in memory. */
  snapshot(): ControlPlaneSnapshot
}

/** Somebody who makes requests, as a client certificate would name them. */
export interface ControlPlaneUser {
  readonly name: string
  readonly groups?: readonly string[]
}

/** The objects of a control plane at one moment. */
export interface ControlPlaneSnapshot extends AsyncDisposable {
  /** Starts a control plane that goes on from here; the options are those of the first one where they are not given. */
  start(options?: Omit<ControlPlaneOptions, 'store'>): Promise<ControlPlane>
}

const masters = 'system:masters'
const controllerManager = 'kube-controller-manager'

/** Starts a control plane; resolves when it answers and its controllers watch. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { clock = systemClock, random = systemRandom, log = nullLogger, signal } = options
  signal?.throwIfAborted()
  const controllers = await chooseControllers(options.controllers ?? 'all')
  const disposer = new AsyncDisposer()
  try {
    const store = options.store ?? disposer.use(new MemoryStore())
    return await assemble({ ...options, controllers }, { store, clock, random, log, disposer })
  } catch (error) {
    await disposer[Symbol.asyncDispose]()
    throw error
  }
}

interface Parts {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  readonly disposer: AsyncDisposer
}

async function assemble(options: ControlPlaneOptions, parts: Parts): Promise<ControlPlane> {
  const { store, clock, random, log, disposer } = parts
  const localServers = new LocalServers()
  const { access, webhooks, ...rest } = options.server ?? {}
  const keys = access?.serviceAccounts?.keys ?? [options.identity?.serviceAccountKey ?? ServiceAccountKeys.generate()]
  let made: ServerIdentity | undefined = options.identity
  const identity = (): ServerIdentity => (made ??= createServerIdentity(clock.now()))
  const { nodes = 1 } = options
  let controllers: RunningControllers | undefined
  const server = disposer.use(
    await assembleServer({
      ...rest,
      store,
      clock,
      random,
      log,
      access: {
        ...access,
        serviceAccounts: { ...access?.serviceAccounts, keys },
        tokens: [...(access?.tokens ?? []), ...(options.tokens ?? [])],
      },
      webhooks: { ...webhooks, outgoing: localServers.before(webhooks?.outgoing ?? systemOutgoing) },
      // The nodes come with the controllers, which need the server first.
      nodes: { logs: (request) => controllers?.nodes?.logs(request) },
    }),
  )
  const transport = (user: ControlPlaneUser = { name: adminUser, groups: [masters] }): Transport =>
    inProcessTransport({
      handler: server.handler,
      // Virtual time passes when there is nothing left to do, and needs no turns.
      ...(clock === systemClock ? { pause: turnWhenDue } : {}),
      peer: {
        address: '127.0.0.1',
        certificate: { commonName: user.name, organizations: user.groups ?? [] },
      },
    })
  const client: ControlPlane['client'] = ({ user, ...clientOptions } = {}) =>
    disposer.use(createClient({ transport: transport(user), clock, ...clientOptions }))
  controllers = disposer.use(
    await startChosen({
      choice: options.controllers ?? 'all',
      nodes: typeof nodes === 'number' ? (nodes > 0 ? { nodes } : undefined) : nodes,
      client: client({
        user: { name: `system:${controllerManager}`, groups: [masters] },
        listNamespace: '',
        fieldManager: controllerManager,
      }),
      server: server.parts,
      trust: clusterTrust({ rootCa: options.identity?.ca.cert, serviceAccountKeys: keys, identity }),
      clock,
      random,
      log: log.withName('controllers'),
    }),
  )
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= disposer[Symbol.asyncDispose]())
  // It may have been aborted meanwhile, and says so only once.
  options.signal?.throwIfAborted()
  // Whoever aborts does not wait; what goes wrong while stopping is all that is left to say.
  onAbort(
    options.signal,
    () => void stop().catch((error: unknown) => log.error(error, 'Control plane did not stop cleanly')),
  )
  return {
    server,
    clock,
    localServers,
    controllers,
    transport,
    client,
    listen: async (listenOptions = {}) =>
      disposer.use(
        await listenWith(server.handler, { ...listenOptions, identity: listenOptions.identity ?? identity() }),
      ),
    snapshot: () => snapshotOf(store, options),
    [Symbol.asyncDispose]: stop,
  }
}

/** Starts the chosen controllers, whose code is loaded only where there are any: an API server alone starts faster. */
async function startChosen(options: StartControllersOptions): Promise<RunningControllers> {
  if (options.choice === 'none' && options.nodes === undefined) {
    return { names: [], manager: undefined, nodes: undefined, [Symbol.asyncDispose]: async () => undefined }
  }
  const { startControllers } = await import('./start-controllers.ts')
  return startControllers(options)
}

function snapshotOf(store: Store, first: ControlPlaneOptions): ControlPlaneSnapshot {
  if (!isForkable(store))
    throw new TypeError('Cannot take a snapshot: only a control plane in memory can be duplicated')
  const kept = store.fork()
  return {
    async start(options = {}) {
      const disposer = new AsyncDisposer()
      const store = disposer.use(kept.fork())
      try {
        const plane = disposer.use(await startControlPlane({ ...first, ...options, store }))
        return { ...plane, [Symbol.asyncDispose]: () => disposer[Symbol.asyncDispose]() }
      } catch (error) {
        await disposer[Symbol.asyncDispose]()
        throw error
      }
    },
    [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose](),
  }
}

function isForkable(store: Store): store is ForkableStore {
  return 'fork' in store && typeof store.fork === 'function'
}
