import { hostname } from 'node:os'
import {
  AsyncDisposer,
  type Clock,
  type Duration,
  type Logger,
  nullLogger,
  onAbort,
  type Random,
  systemClock,
  systemRandom,
  turnWhenDue,
  uuid,
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
  CertificateAuthority,
  createServerIdentity,
  type KeyedCertificate,
  LocalServers,
  type ServerIdentity,
  ServiceAccountKeys,
  type StaticToken,
  systemOutgoing,
} from '@kubewright/server'
import { type ForkableStore, MemoryStore, type Store } from '@kubewright/storage'
import { chooseControllers } from './choose-controllers.ts'
import { clusterTrust } from './cluster-trust.ts'
import type { ElectionTiming } from './elected-component.ts'
import { type ControlPlaneLevers, createLevers } from './levers.ts'
import { type ControlPlaneAddress, type ControlPlaneListenOptions, listenWith } from './listen-with.ts'
import { loadControllers } from './load-controllers.ts'
import type {
  ControllerChoice,
  ElectionOptions,
  NodesOptions,
  RunningControllers,
  StartControllersOptions,
} from './start-controllers.ts'

/** Options of {@link startControlPlane}. */
export interface ControlPlaneOptions {
  /**
   * The storage. The caller keeps ownership and closes it. @default in memory, for the lifetime of the control plane
   */
  readonly store?: Store | undefined
  /**
   * The built-in controllers to run: all, none, or a list of names as in kube-controller-manager (`-name` excludes one,
   * `*` stands for all). Unknown names are rejected. @default 'all'
   */
  readonly controllers?: ControllerChoice | undefined
  /**
   * The number of simulated nodes, or their specifications and the behaviour of containers. With 0, pods stay pending.
   * @default 1
   */
  readonly nodes?: number | NodesOptions | undefined
  /** The nodes of another process, which serves their logs. @default the simulated nodes of this control plane */
  readonly connector?: AssembleServerOptions['nodes'] | undefined
  /** Whether the scheduler binds pods to nodes. @default whether there are simulated nodes */
  readonly scheduler?: boolean | undefined
  /**
   * The resources that the garbage collector watches, and thus collects. Fewer resources make the start faster, which
   * matters for a simulation of many short runs. @default all
   */
  readonly collects?: ((resource: { readonly group: string; readonly plural: string }) => boolean) | undefined
  /**
   * How long the built-in controllers wait after a change of an object, so that further changes join it. A roll-out then needs
   * fewer writes, and takes longer. Does not apply to the scheduler and the simulated nodes. @default they do not wait
   */
  readonly debounce?: Duration | undefined
  /**
   * Whether the built-in controllers, the scheduler and the simulated nodes record Events. Without Events, short runs that
   * nothing reads them in need fewer writes. Does not apply with leader election. @default true
   */
  readonly events?: boolean | undefined
  /**
   * Whether controllers, scheduler and simulated nodes run only while this server holds their Leases in kube-system, and
   * the timing of these Leases. Several servers on one store require it. Without it, they start at once and no Lease is
   * written. @default whether the store is shared with other processes
   */
  readonly leaderElection?: boolean | ElectionTiming | undefined
  /** Bearer tokens that the API server accepts. @default none */
  readonly tokens?: readonly StaticToken[] | undefined
  /**
   * The keys and certificates of the control plane. With an identity, its CA certificate is published in every
   * namespace, where pods expect it. Without one, keys are generated when they are first needed, and nothing is
   * published. @default none
   */
  readonly identity?: ServerIdentity | undefined
  /** PEM of the certificates with which pods verify this server, published in every namespace. @default the CA of the identity */
  readonly rootCa?: string | undefined
  /** Further options of the API server. */
  readonly server?: Omit<AssembleServerOptions, 'store' | 'clock' | 'random' | 'log' | 'nodes'> | undefined
  /**
   * Wraps every transport without sockets, including that of the built-in controllers, whose user is
   * `system:kube-controller-manager`. The wrapper can record, delay or fail requests. @default none
   */
  readonly intercept?: ((transport: Transport, user: ControlPlaneUser) => Transport) | undefined
  /** Whether faults can be injected: see {@link ControlPlane.levers}. @default false */
  readonly levers?: boolean | undefined
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
  /** Servers in this process, such as webhooks, that the API server calls without sockets. */
  readonly localServers: LocalServers
  readonly controllers: RunningControllers
  /** Injects faults. Present if the option `levers` is on. */
  readonly levers?: ControlPlaneLevers | undefined
  /** A transport to the API server without sockets, as the administrator or the given user. */
  transport(user?: ControlPlaneUser): Transport
  /** A client of the API server without sockets, as the administrator or the given user. */
  client(options?: Partial<ClientOptions> & ControlPlaneClientOptions): ApiClient
  /** Serves HTTPS on the loopback address. Can be called several times. */
  listen(options?: ControlPlaneListenOptions): Promise<ControlPlaneAddress>
  /**
   * Captures the current state, from which any number of control planes can be started. Requires an in-memory store.
   */
  snapshot(): ControlPlaneSnapshot
}

/** Options of {@link ControlPlane.client}, beside those of every client. */
export interface ControlPlaneClientOptions {
  /** @default the administrator */
  readonly user?: ControlPlaneUser
  /** Whether injected faults do not apply to its requests. @default false */
  readonly isExempt?: boolean
}

/** The user of a request, with the names that a client certificate would carry. */
export interface ControlPlaneUser {
  readonly name: string
  readonly groups?: readonly string[]
}

/** The objects of a control plane at one point in time. */
export interface ControlPlaneSnapshot extends AsyncDisposable {
  /** Starts a control plane with these objects. Options default to those of the original control plane. */
  start(options?: Omit<ControlPlaneOptions, 'store'>): Promise<ControlPlane>
}

const masters = 'system:masters'
const controllerManager = 'kube-controller-manager'

/** Starts a control plane; resolves when it serves requests and its controllers watch. */
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
  const { access, webhooks, kubelets, ...rest } = options.server ?? {}
  const keys =
    access?.serviceAccounts?.keys ?? (options.identity ? [options.identity.serviceAccountKey] : generatedKeys())
  let made: ServerIdentity | undefined = options.identity
  const identity = (): ServerIdentity => (made ??= createServerIdentity(clock.now()))
  const { nodes = 1 } = options
  const runsScheduler = options.scheduler ?? (typeof nodes === 'number' ? nodes > 0 : true)
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
      kubelets: { client: kubeletClient(identity, clock), ...kubelets },
      components:
        rest.components ??
        ((name) => {
          const runs = name === 'scheduler' ? runsScheduler : options.controllers !== 'none'
          if (!runs) return undefined
          return async () => {
            // They start after the server.
            if (!controllers) throw new Error('the component is starting')
            return 'ok'
          }
        }),
      // The nodes start with the controllers, which need the server first.
      nodes: options.connector ?? {
        logs: (request) => controllers?.nodes?.logs(request),
        refusesStreams: (node) => controllers?.nodes?.refusesStreams?.(node),
      },
    }),
  )
  const { intercept = (direct: Transport) => direct } = options
  const injected = options.levers ? createLevers(clock, () => controllers?.nodes) : undefined
  const handler = injected?.faults.around(server.handler) ?? server.handler
  const admin = { name: adminUser, groups: [masters] }
  const transport = (user: ControlPlaneUser = admin, { isExempt = false } = {}): Transport => {
    const direct = inProcessTransport({
      handler: isExempt ? server.handler : handler,
      // Virtual time advances only when no work is left, so it needs no pauses for timers.
      ...(clock === systemClock ? { pause: turnWhenDue } : {}),
      peer: {
        address: '127.0.0.1',
        inProcess: true,
        certificate: { commonName: user.name, organizations: user.groups ?? [] },
      },
    })
    // Watches of callers that never dispose the transport end with the control plane.
    disposer.use(direct)
    return intercept(direct, user)
  }
  const client: ControlPlane['client'] = ({ user, isExempt = false, ...clientOptions } = {}) =>
    disposer.use(createClient({ transport: transport(user, { isExempt }), clock, ...clientOptions }))
  controllers = disposer.use(
    await startChosen({
      choice: options.controllers ?? 'all',
      nodes: typeof nodes === 'number' ? (nodes > 0 ? { nodes } : undefined) : nodes,
      scheduler: options.scheduler,
      collects: options.collects,
      debounce: options.debounce,
      events: options.events,
      election: electionOf(options.leaderElection ?? store.shared ?? false, random),
      client: client({
        user: { name: `system:${controllerManager}`, groups: [masters] },
        isExempt: true,
        listNamespace: '',
        fieldManager: controllerManager,
      }),
      server: server.parts,
      trust: clusterTrust({ rootCa: options.rootCa ?? options.identity?.ca.cert, serviceAccountKeys: keys, identity }),
      clock,
      random,
      log: log.withName('controllers'),
    }),
  )
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= disposer[Symbol.asyncDispose]())
  // The signal may have aborted during the start; an abort event fires only once.
  options.signal?.throwIfAborted()
  // Nothing awaits this stop, so errors are logged.
  onAbort(
    options.signal,
    () => void stop().catch((error: unknown) => log.error(error, 'Control plane did not stop cleanly')),
  )
  return {
    server: { ...server, handler },
    clock,
    localServers,
    controllers,
    levers: injected?.levers,
    transport: (user) => transport(user),
    client,
    listen: async (listenOptions = {}) =>
      disposer.use(await listenWith(handler, { ...listenOptions, identity: listenOptions.identity ?? identity() })),
    snapshot: () => snapshotOf(store, options),
    [Symbol.asyncDispose]: stop,
  }
}

/** A key for service account tokens that is generated when it is first needed: most tests need none. */
function generatedKeys(): () => readonly string[] {
  let keys: readonly string[] | undefined
  return () => (keys ??= [ServiceAccountKeys.generate()])
}

/** The options of leader election. The identity is unique even among earlier runs on the same machine. */
function electionOf(option: boolean | ElectionTiming, random: Random): ElectionOptions | undefined {
  if (option === false) return undefined
  return { ...(option === true ? {} : option), identity: `${hostname()}_${uuid(random)}` }
}

/** Issues the certificate with which the server authenticates to kubelets, when it is first needed and before it expires. */
function kubeletClient(identity: () => ServerIdentity, clock: Clock): () => KeyedCertificate {
  const renewAfter = 30 * 24 * 60 * 60_000
  let issued: { readonly at: number; readonly certificate: KeyedCertificate } | undefined
  return () => {
    const now = clock.now()
    if (issued === undefined || now - issued.at > renewAfter) {
      const subject = { commonName: 'kube-apiserver-kubelet-client', organizations: [masters] }
      issued = { at: now, certificate: new CertificateAuthority(identity().ca).issueClient({ ...subject, now }) }
    }
    return issued.certificate
  }
}

/** Starts the chosen controllers. */
async function startChosen(options: StartControllersOptions): Promise<RunningControllers> {
  if (options.choice === 'none' && options.nodes === undefined && !options.scheduler) {
    return { names: [], manager: undefined, nodes: undefined, [Symbol.asyncDispose]: async () => undefined }
  }
  const { startControllers } = await loadControllers()
  return startControllers(options)
}

function snapshotOf(store: Store, first: ControlPlaneOptions): ControlPlaneSnapshot {
  if (!isForkable(store))
    throw new TypeError('Cannot take a snapshot: it requires a control plane with an in-memory store')
  const kept = store.fork()
  return {
    async start(options = {}) {
      const disposer = new AsyncDisposer()
      const store = disposer.use(kept.fork())
      try {
        // The objects of every cluster are in the snapshot, unless they depend on options that differ.
        const isBootstrapped = options.identity === undefined && options.server?.builtins === undefined
        const server = { ...(options.server ?? first.server), isBootstrapped }
        const plane = disposer.use(await startControlPlane({ ...first, ...options, server, store }))
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
