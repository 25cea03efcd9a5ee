import { hostname } from 'node:os'
import { AsyncDisposer, onAbort, type Random, systemClock, turnWhenDue, uuid } from '@kubewright/base'
import { createClient, inProcessTransport, type Transport } from '@kubewright/client'
import { adminUser, assembleServer, createServerIdentity, LocalServers, type ServerIdentity } from '@kubewright/server'
import type { ForkableStore, Store } from '@kubewright/storage'
import { chooseControllers } from '../components/choose-controllers.ts'
import { loadControllers } from '../components/load-controllers.ts'
import type { ElectionOptions, RunningControllers, StartControllersOptions } from '../components/start-controllers.ts'
import { type CompletedConfig, completed } from '../config/completed-config.ts'
import type { ControlPlaneUser, ElectionTiming, PlaneConfig } from '../config/plane-config.ts'
import { createLevers } from '../faults/levers.ts'
import { clusterTrust } from '../identity/cluster-trust.ts'
import type { ControlPlane, ControlPlaneSnapshot } from './control-plane.ts'
import { listenWith } from './listen-with.ts'
import { openStore } from './open-store.ts'
import { type Surroundings, serverOptions, serviceAccountKeys } from './server-options.ts'

const masters = 'system:masters'
const controllerManager = 'kube-controller-manager'

/** Starts a control plane; resolves when it serves requests and its controllers watch. */
export function startControlPlane(config: PlaneConfig = {}): Promise<ControlPlane> {
  return startIn({}, config)
}

/** Starts a control plane in given surroundings. */
export async function startIn(surroundings: Surroundings, config: PlaneConfig): Promise<ControlPlane> {
  config.signal?.throwIfAborted()
  const controllers = await chooseControllers(config.controllers ?? 'all')
  const complete = completed({ ...config, controllers })
  const disposer = new AsyncDisposer()
  try {
    const store = surroundings.store ?? (await openStore(complete, disposer))
    return await assemble(complete, { ...surroundings, store }, disposer)
  } catch (error) {
    await disposer[Symbol.asyncDispose]()
    throw error
  }
}

async function assemble(
  config: CompletedConfig,
  surroundings: Surroundings & { readonly store: Store },
  disposer: AsyncDisposer,
): Promise<ControlPlane> {
  const { clock, random, log, nodes = 1 } = config
  const { store } = surroundings
  const localServers = new LocalServers()
  const keys = serviceAccountKeys(config)
  let made: ServerIdentity | undefined = config.identity
  const identity = (): ServerIdentity => (made ??= createServerIdentity(clock.now()))
  let controllers: RunningControllers | undefined
  const parts = { keys, identity, localServers, controllers: () => controllers, disposer }
  const server = disposer.use(await assembleServer(serverOptions(config, surroundings, parts)))
  const { intercept = (direct: Transport) => direct } = config
  const injected = config.levers ? createLevers(clock, () => controllers?.nodes) : undefined
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
      choice: config.controllers ?? 'all',
      nodes: typeof nodes === 'number' ? (nodes > 0 ? { nodes } : undefined) : nodes,
      scheduler: config.scheduler,
      collects: config.collects,
      debounce: config.debounce,
      events: config.events,
      election: electionOf(config.leaderElection ?? store.shared ?? false, random),
      client: client({
        user: { name: `system:${controllerManager}`, groups: [masters] },
        isExempt: true,
        listNamespace: '',
        fieldManager: controllerManager,
      }),
      server: server.parts,
      trust: clusterTrust({
        rootCa: surroundings.rootCa ?? config.identity?.ca.cert,
        serviceAccountKeys: keys,
        identity,
      }),
      clock,
      random,
      log: log.withName('controllers'),
    }),
  )
  let stopped: Promise<void> | undefined
  const stop = (): Promise<void> => (stopped ??= disposer[Symbol.asyncDispose]())
  // The signal may have aborted during the start; an abort event fires only once.
  config.signal?.throwIfAborted()
  // Nothing awaits this stop, so errors are logged.
  onAbort(
    config.signal,
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
    snapshot: () => snapshotOf(store, config),
    [Symbol.asyncDispose]: stop,
  }
}

/** The options of leader election. The identity is unique even among earlier runs on the same machine. */
function electionOf(option: boolean | ElectionTiming, random: Random): ElectionOptions | undefined {
  if (option === false) return undefined
  return { ...(option === true ? {} : option), identity: `${hostname()}_${uuid(random)}` }
}

/** Starts the chosen controllers. */
async function startChosen(options: StartControllersOptions): Promise<RunningControllers> {
  if (options.choice === 'none' && options.nodes === undefined && !options.scheduler) {
    return { names: [], manager: undefined, nodes: undefined, [Symbol.asyncDispose]: async () => undefined }
  }
  const { startControllers } = await loadControllers()
  return startControllers(options)
}

function snapshotOf(store: Store, first: PlaneConfig): ControlPlaneSnapshot {
  if (!isForkable(store))
    throw new TypeError('Cannot take a snapshot: it requires a control plane with an in-memory store')
  const kept = store.fork()
  return {
    async start(config = {}) {
      const disposer = new AsyncDisposer()
      try {
        const store = disposer.use(kept.fork())
        // The objects of every cluster are in the snapshot, unless they depend on an identity that differs. They are those of its release.
        const surroundings = { store, isBootstrapped: config.identity === undefined }
        const plane = disposer.use(await startIn(surroundings, { ...first, ...config, kubernetes: first.kubernetes }))
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
