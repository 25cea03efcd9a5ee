import { AsyncDisposer, type Clock, type Duration, type Logger, onAbort, type Random } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import {
  type BuiltinController,
  builtinControllers,
  type ClusterTrust,
  controllerCache,
  createDefaultStorageClass,
  type GarbageCollectorOptions,
  garbageCollector,
  podScheduler,
  type SimulatedNodes,
  simulateNodes,
  trustControllers,
} from '@kubewright/controllers'
import {
  type Cluster,
  type ClusterOptions,
  createCluster,
  createManager,
  type KeyController,
  type Manager,
  NotLeaderError,
} from '@kubewright/runtime'
import {
  findAbsence,
  type ServerParts,
  startClusterRoleAggregation,
  startPolicyTypeChecking,
  startResourceQuotas,
} from '@kubewright/server'
import type { ControllerChoice, ElectionTiming, NodesOptions } from '../config/plane-config.ts'
import { type ComponentParts, type ElectedComponent, startElected } from './elected-component.ts'
import { startPersistently } from './start-persistently.ts'

/** Options of {@link startControllers}. */
export interface StartControllersOptions {
  readonly choice: ControllerChoice
  /** @default no nodes */
  readonly nodes: NodesOptions | undefined
  /** Whether the scheduler runs. @default whether there are simulated nodes */
  readonly scheduler?: boolean | undefined
  /** The resources that the garbage collector watches. @default all */
  readonly collects?: GarbageCollectorOptions['collects'] | undefined
  /** How long the built-in controllers wait after a change. @default they do not wait */
  readonly debounce?: Duration | undefined
  /** Whether the components record Events. Does not apply with `election`. @default true */
  readonly events?: boolean | undefined
  /** Runs the components on the servers that hold their Leases. @default this is the only server */
  readonly election?: ElectionOptions | undefined
  readonly client: ApiClient
  readonly server: ServerParts
  readonly trust: ClusterTrust
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** How servers on one store agree which of them runs the controllers. */
export interface ElectionOptions extends ElectionTiming {
  /** Identifies this server among the candidates. */
  readonly identity: string
}

/** The running controllers of a control plane. Disposal stops them. */
export interface RunningControllers extends AsyncDisposable {
  /** The names of the controllers, sorted. With leader election, those that run while this server leads. */
  readonly names: readonly string[]
  /** Undefined without controllers and with leader election, which uses one manager per component and term. */
  readonly manager: Manager | undefined
  /** The simulated nodes. With leader election, they run only while this server holds their Lease. */
  readonly nodes: SimulatedNodes | undefined
  /**
   * Whether this server holds the Lease of a component: `kube-controller-manager`, `kube-scheduler` or `kubewright-nodes`.
   * Undefined without leader election: this server runs everything.
   */
  leads?(component: string): boolean
}

const controllerManager = 'kube-controller-manager'
/** The Lease of the simulated nodes. In other clusters, kubelets need none. */
const nodesLease = 'kubewright-nodes'

// No proxy closes these connections silently, and no other server should share their load.
const inProcessWatchTimeout: Duration = '24h'

/** Controllers that share their rules with the server, and are therefore part of the server package. */
const serverControllers: readonly {
  readonly name: string
  readonly start: (parts: ServerParts) => Promise<AsyncDisposable>
}[] = [
  { name: 'clusterrole-aggregation-controller', start: startClusterRoleAggregation },
  { name: 'resourcequota-controller', start: startResourceQuotas },
  { name: 'validatingadmissionpolicy-status-controller', start: startPolicyTypeChecking },
]

/** The names of all controllers. */
export const controllerNames: readonly string[] = [
  ...builtinControllers.map(({ name }) => name),
  ...trustControllers.map(({ name }) => name),
  ...serverControllers.map(({ name }) => name),
].sort()

/** The version that simulated kubelets report: that of the server. */
function versionOf({ server }: Pick<StartControllersOptions, 'server'>): string {
  return server.resources.release.facts.gitVersion
}

/** Starts the chosen controllers; resolves when they watch, or, with `election`, when this server is a candidate. */
export async function startControllers(options: StartControllersOptions): Promise<RunningControllers> {
  const { client, clock, random, log, election } = options
  const disposer = new AsyncDisposer()
  try {
    const chosen = chosenControllers(options)
    const names = chosen.map(({ name }) => name).sort()
    const server = chosenServerControllers(options)
    const cache: ClusterOptions['cache'] = {
      ...controllerCache,
      reflector: { watchTimeout: inProcessWatchTimeout },
      absence: (resource, signal) => findAbsence(options.server, resource, signal),
    }
    const openCluster = (): Cluster => disposer.use(createCluster({ api: client, clock, random, log, cache }))
    if (election !== undefined)
      return startElections({ ...options, election }, { chosen, names, openCluster, disposer })
    for (const { name, start } of server) {
      disposer.use(await startPersistently(name, () => start(options.server), options))
    }
    // Registered before the manager, so that it is disposed after it: the processes of pods stop when no controller can
    // start others.
    const nodes = disposer.use(
      options.nodes === undefined
        ? undefined
        : simulateNodes({
            schedules: options.scheduler ?? true,
            kubeletVersion: versionOf(options),
            ...options.nodes,
            clock,
          }),
    )
    const schedulesOnly = nodes === undefined && options.scheduler === true
    const controllers = [
      ...chosen.flatMap((one) => one.controllers),
      ...(nodes?.controllers ?? []),
      ...(schedulesOnly ? [podScheduler()] : []),
    ]
    if (controllers.length === 0) {
      return { names, manager: undefined, nodes, [Symbol.asyncDispose]: () => disposer[Symbol.asyncDispose]() }
    }
    const events = options.events === false ? { events: { record: () => undefined } } : {}
    const manager = createManager({
      name: controllerManager,
      cluster: openCluster(),
      degraded: true,
      clock,
      random,
      log,
      ...events,
    })
    for (const controller of controllers) manager.add(controller)
    if (nodes !== undefined && providesVolumes(options)) {
      disposer.use(await startPersistently('default-storage-class', () => createDefaultStorageClass(client), options))
    }
    const stop = new AbortController()
    const running = manager.start({ signal: stop.signal })
    disposer.defer(async () => {
      stop.abort(new Error('The control plane was stopped'))
      await running
    })
    // A manager that cannot start rejects `running`.
    await Promise.race([manager.elected, running])
    return { names, manager, nodes, [Symbol.asyncDispose]: () => disposer[Symbol.asyncDispose]() }
  } catch (error) {
    await disposer[Symbol.asyncDispose]().catch(() => undefined)
    throw error
  }
}

/** The parts of {@link startControllers} that {@link startElections} continues with. */
interface ElectionParts {
  readonly chosen: readonly ChosenController[]
  readonly names: readonly string[]
  readonly openCluster: () => Cluster
  readonly disposer: AsyncDisposer
}

/**
 * Makes this server a candidate for the Leases of the controllers, the scheduler and the simulated nodes. Does not wait for
 * the elections: other servers may lead.
 */
function startElections(
  options: StartControllersOptions & { readonly election: ElectionOptions },
  { chosen, names, openCluster, disposer }: ElectionParts,
): RunningControllers {
  const { clock, random, log, election, nodes: wanted } = options
  const { identity, ...timing } = election
  const cluster = openCluster()
  const common = { identity, timing, cluster, clock, random, log }
  const components: ElectedComponent[] = []
  const elect = (name: string, create: () => ComponentParts): void => {
    components.push(startElected({ ...common, name, create }))
  }
  if (names.length > 0)
    elect(controllerManager, () => ({ addTo: (manager) => addControllers(manager, options, chosen) }))
  let nodes: SimulatedNodes | undefined
  const { scheduler = wanted !== undefined } = options
  if (scheduler) elect('kube-scheduler', () => ({ addTo: (manager) => manager.add(podScheduler()) }))
  if (wanted !== undefined) {
    elect(nodesLease, () => {
      const created = simulateNodes({ kubeletVersion: versionOf(options), ...wanted, schedules: false, clock })
      nodes = created
      return {
        addTo: (manager) => {
          for (const controller of created.controllers) manager.add(controller)
        },
        [Symbol.asyncDispose]: () => created[Symbol.asyncDispose](),
      }
    })
  }
  // At the same time, so that each Lease is released as soon as its own work has ended.
  disposer.defer(() => Promise.all(components.map((component) => component[Symbol.asyncDispose]())))
  return {
    names,
    manager: undefined,
    // The nodes change with each candidacy.
    get nodes() {
      return nodes
    },
    leads: (name) => components.some((component) => component.name === name && component.isLeader),
    [Symbol.asyncDispose]: () => disposer[Symbol.asyncDispose](),
  }
}

/** Adds the controllers of a term to its manager. */
function addControllers(manager: Manager, options: StartControllersOptions, chosen: readonly ChosenController[]): void {
  const assertOpen = (): void => {
    if (!manager.isLeader)
      throw new NotLeaderError(`Cannot write: this server does not hold the lease ${controllerManager}`)
  }
  const server = { ...options.server, writer: options.server.writer.gated(assertOpen) }
  for (const { name, start } of chosenServerControllers(options)) {
    manager.add({
      name,
      run: async ({ drain }) => {
        const running = await startPersistently(name, () => start(server), options)
        await new Promise<void>((resolve) => void onAbort(drain, () => resolve()))
        await running[Symbol.asyncDispose]()
      },
    })
  }
  for (const { controllers } of chosen) for (const controller of controllers) manager.add(controller)
  if (options.nodes !== undefined && providesVolumes(options)) {
    manager.add({ name: 'default-storage-class', run: ({ cluster }) => createDefaultStorageClass(cluster.api) })
  }
}

interface ChosenController {
  readonly name: string
  readonly controllers: readonly KeyController[]
}

const isChosen = ({ choice }: StartControllersOptions, name: string): boolean =>
  choice === 'all' || (choice !== 'none' && choice.includes(name))

/** The chosen controllers, those of the server package without their implementation. */
function chosenControllers(options: StartControllersOptions): readonly ChosenController[] {
  return [
    ...chosenServerControllers(options).map(({ name }) => ({ name, controllers: [] })),
    ...builtinControllers
      .filter(({ name }) => isChosen(options, name))
      .map((one) => limited(one, options.collects))
      .map((one) => debounced(one, options.debounce)),
    ...trustControllers
      .filter(({ name }) => isChosen(options, name))
      .map(({ name, create }) => ({ name, controllers: create(options.trust) })),
  ]
}

function chosenServerControllers(options: StartControllersOptions): typeof serverControllers {
  return serverControllers.filter(({ name }) => isChosen(options, name))
}

/** Whether claims without a class get a volume, so that a default class makes sense. */
function providesVolumes(options: StartControllersOptions): boolean {
  return isChosen(options, 'persistentvolume-binder-controller')
}

/** The garbage collector for the chosen resources, and every other controller unchanged. */
function limited(controller: BuiltinController, collects: GarbageCollectorOptions['collects']): BuiltinController {
  const isCollector = collects !== undefined && controller.name === 'garbage-collector-controller'
  return isCollector ? { ...controller, controllers: [garbageCollector({ collects })] } : controller
}

/** A controller that waits after each change, so that further changes join it. */
function debounced(controller: BuiltinController, debounce: Duration | undefined): BuiltinController {
  if (debounce === undefined) return controller
  return { ...controller, controllers: controller.controllers.map((one) => Object.freeze({ ...one, debounce })) }
}
