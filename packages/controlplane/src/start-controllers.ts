import { AsyncDisposer, type Clock, type Logger, type Random } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import {
  builtinControllers,
  type ClusterTrust,
  type SimulatedNodes,
  type SimulateNodesOptions,
  simulateNodes,
  trustControllers,
} from '@kubewright/controllers'
import { createManager, type Manager } from '@kubewright/runtime'
import {
  type ServerParts,
  startClusterRoleAggregation,
  startPolicyTypeChecking,
  startResourceQuotas,
} from '@kubewright/server'

/** Which of the built-in controllers run. */
export type ControllerChoice = 'all' | 'none' | readonly string[]

/** The simulated nodes of a control plane. */
export type NodesOptions = Omit<SimulateNodesOptions, 'clock'>

/** What {@link startControllers} takes. */
export interface StartControllersOptions {
  readonly choice: ControllerChoice
  /** @default no nodes */
  readonly nodes: NodesOptions | undefined
  readonly client: ApiClient
  readonly server: ServerParts
  readonly trust: ClusterTrust
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** The controllers of a control plane in operation. Disposing it stops them. */
export interface RunningControllers extends AsyncDisposable {
  /** Their names, in order. */
  readonly names: readonly string[]
  readonly manager: Manager | undefined
  readonly nodes: SimulatedNodes | undefined
}

/** Controllers that count or check as the server itself does, and live beside that code. */
const serverControllers: readonly {
  readonly name: string
  readonly start: (parts: ServerParts) => Promise<AsyncDisposable>
}[] = [
  { name: 'clusterrole-aggregation-controller', start: startClusterRoleAggregation },
  { name: 'resourcequota-controller', start: startResourceQuotas },
  { name: 'validatingadmissionpolicy-status-controller', start: startPolicyTypeChecking },
]

/** The names that a choice can be made of. */
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
      ...builtinControllers.filter(({ name }) => wants(name)),
      ...trusted.map(({ name, create }) => ({ name, controllers: create(options.trust) })),
    ]
    names.push(...chosen.map(({ name }) => name))
    // Below the manager: the programs of pods end when nobody starts others any more.
    const nodes = disposer.use(options.nodes === undefined ? undefined : simulateNodes({ ...options.nodes, clock }))
    if (chosen.length === 0 && nodes === undefined) {
      return { names, manager: undefined, nodes, [Symbol.asyncDispose]: () => disposer[Symbol.asyncDispose]() }
    }
    const manager = createManager({ name: 'kube-controller-manager', client, clock, random, log })
    for (const { controllers } of chosen) for (const controller of controllers) manager.add(controller)
    for (const controller of nodes?.controllers ?? []) manager.add(controller)
    const running = manager.start({ signal: stop.signal })
    disposer.defer(async () => {
      stop.abort(new Error('The control plane was stopped'))
      await running
    })
    // A manager that cannot start says why by rejecting.
    await Promise.race([manager.elected, running])
    return { names: names.sort(), manager, nodes, [Symbol.asyncDispose]: () => disposer[Symbol.asyncDispose]() }
  } catch (error) {
    stop.abort(error)
    await disposer[Symbol.asyncDispose]().catch(() => undefined)
    throw error
  }
}
