import { AsyncDisposer, append, type Clock, type Duration, type Logger, type Random } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import {
  type BuiltinController,
  builtinControllers,
  type ClusterTrust,
  createDefaultStorageClass,
  type GarbageCollectorOptions,
  garbageCollector,
  podScheduler,
  type SimulatedNodes,
  type SimulateNodesOptions,
  simulateNodes,
  trustControllers,
} from '@kubewright/controllers'
import { createCluster, createManager, type Manager } from '@kubewright/runtime'
import {
  type ServerParts,
  startClusterRoleAggregation,
  startPolicyTypeChecking,
  startResourceQuotas,
} from '@kubewright/server'

/** Selects the built-in controllers to run. */
export type ControllerChoice = 'all' | 'none' | readonly string[]

/** The simulated nodes of a control plane. */
export type NodesOptions = Omit<SimulateNodesOptions, 'clock'>

/** Options of {@link startControllers}. */
export interface StartControllersOptions {
  readonly choice: ControllerChoice
  /** @default no nodes */
  readonly nodes: NodesOptions | undefined
  /** Whether the scheduler runs. @default whether there are simulated nodes */
  readonly scheduler?: boolean | undefined
  /** The resources that the garbage collector watches. @default all */
  readonly collects?: GarbageCollectorOptions['collects']
  readonly client: ApiClient
  readonly server: ServerParts
  readonly trust: ClusterTrust
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** The running controllers of a control plane. Disposal stops them. */
export interface RunningControllers extends AsyncDisposable {
  /** The names of the running controllers, sorted. */
  readonly names: readonly string[]
  readonly manager: Manager | undefined
  readonly nodes: SimulatedNodes | undefined
}

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

/** Starts the chosen controllers; resolves when they watch. */
export async function startControllers(options: StartControllersOptions): Promise<RunningControllers> {
  const { choice, client, clock, random, log, server } = options
  const wants = (name: string): boolean => choice === 'all' || (choice !== 'none' && choice.includes(name))
  const disposer = new AsyncDisposer()
  const stop = new AbortController()
  try {
    const names: string[] = []
    for (const { name, start } of serverControllers) {
      if (!wants(name)) continue
      names.push(name)
      disposer.use(await start(server))
    }
    const trusted = trustControllers.filter(({ name }) => wants(name))
    const chosen = [
      ...builtinControllers.filter(({ name }) => wants(name)).map((one) => limited(one, options.collects)),
      ...trusted.map(({ name, create }) => ({ name, controllers: create(options.trust) })),
    ]
    append(
      names,
      chosen.map(({ name }) => name),
    )
    // Registered before the manager, so that it is disposed after it: the processes of pods stop when no controller can
    // start others.
    const nodes = disposer.use(
      options.nodes === undefined
        ? undefined
        : simulateNodes({ schedules: options.scheduler ?? true, ...options.nodes, clock }),
    )
    const schedulesOnly = nodes === undefined && options.scheduler === true
    if (chosen.length === 0 && nodes === undefined && !schedulesOnly) {
      return { names, manager: undefined, nodes, [Symbol.asyncDispose]: () => disposer[Symbol.asyncDispose]() }
    }
    const cache = { reflector: { watchTimeout: inProcessWatchTimeout } }
    const cluster = disposer.use(createCluster({ api: client, clock, random, log, cache }))
    const manager = createManager({ name: 'kube-controller-manager', cluster, clock, random, log })
    for (const { controllers } of chosen) for (const controller of controllers) manager.add(controller)
    for (const controller of nodes?.controllers ?? []) manager.add(controller)
    if (schedulesOnly) manager.add(podScheduler())
    if (nodes !== undefined && wants('persistentvolume-binder-controller')) await createDefaultStorageClass(client)
    const running = manager.start({ signal: stop.signal })
    disposer.defer(async () => {
      stop.abort(new Error('The control plane was stopped'))
      await running
    })
    // A manager that cannot start rejects `running`.
    await Promise.race([manager.elected, running])
    return { names: names.sort(), manager, nodes, [Symbol.asyncDispose]: () => disposer[Symbol.asyncDispose]() }
  } catch (error) {
    stop.abort(error)
    await disposer[Symbol.asyncDispose]().catch(() => undefined)
    throw error
  }
}

/** The garbage collector for the chosen resources, and every other controller unchanged. */
function limited(controller: BuiltinController, collects: GarbageCollectorOptions['collects']): BuiltinController {
  const isCollector = collects !== undefined && controller.name === 'garbage-collector-controller'
  return isCollector ? { ...controller, controllers: [garbageCollector({ collects })] } : controller
}
